// SPDX-License-Identifier: Apache-2.0
#include "base/meter.hpp"

#include <gtest/gtest.h>

namespace ullage::meter_test {
namespace {

TEST(Meter, CountsBytesOperationsAndLatencies) {
  const std::atomic<bool> stop = false;
  Meter meter(stop);
  meter.start(now_ns());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(meter.completed(10));
  EXPECT_EQ(meter.bytes(), 1000U);
  EXPECT_EQ(meter.operations(), 100U);
  EXPECT_EQ(meter.histogram().operations(), 100U);
  EXPECT_EQ(meter.series().until(now_ns()).bytes, 1000U);
}

TEST(Meter, StopsAtTheDeadlineAfterTheOperationThatPassedIt) {
  const std::atomic<bool> stop = false;
  Meter meter(stop);
  meter.start(now_ns(), now_ns() - 1);
  EXPECT_FALSE(meter.completed(1));
  EXPECT_FALSE(meter.goes_on());
  EXPECT_EQ(meter.operations(), 1U) << "the operation was done and counts";
  meter.set_deadline(Meter::no_deadline);
  EXPECT_TRUE(meter.completed(1));
}

TEST(Meter, ObeysTheStopFlagUnlessToldNotTo) {
  const std::atomic<bool> stop = true;
  Meter meter(stop);
  meter.start(now_ns());
  EXPECT_FALSE(meter.completed(1));
  meter.obey_stop(false);
  EXPECT_TRUE(meter.completed(1));
}

TEST(Meter, WhatLiesBeforeResumeIsNoLatency) {
  const std::atomic<bool> stop = false;
  Meter meter(stop);
  meter.start(now_ns() - 1'000'000'000);
  meter.resume(now_ns());
  EXPECT_TRUE(meter.completed(1));
  EXPECT_LT(meter.histogram().max_ns(), 1'000'000'000U);
  meter.start(now_ns() - 1'000'000'000);
  EXPECT_TRUE(meter.completed(1));
  EXPECT_GE(meter.histogram().max_ns(), 1'000'000'000U);
}

TEST(Meter, ManyAtOnceCountAsMany) {
  const std::atomic<bool> never = false;
  Meter meter(never);
  meter.start(now_ns());
  EXPECT_TRUE(meter.completed_many(1000, 4096));
  EXPECT_TRUE(meter.completed_many(0, 0));
  EXPECT_EQ(meter.operations(), 1000U);
  EXPECT_EQ(meter.bytes(), 4096U);
  EXPECT_EQ(meter.histogram().operations(), 1000U);
  EXPECT_EQ(meter.series().until(now_ns()).operations, 1000U);
  meter.set_deadline(now_ns() - 1);
  EXPECT_FALSE(meter.completed_many(1, 0));
}

TEST(Meter, PartsAreForgottenWithEverythingElse) {
  const std::atomic<bool> never = false;
  Meter meter(never);
  meter.use_parts(2);
  meter.start(now_ns());
  meter.add_part(1, 500);
  EXPECT_EQ(meter.parts()[0].operations(), 0U);
  EXPECT_EQ(meter.parts()[1].sum_ns(), 500U);
  meter.start(now_ns());
  EXPECT_EQ(meter.parts()[1].operations(), 0U);
}

TEST(Meter, SignOfLifeIsProgressAndNoOperation) {
  const std::atomic<bool> never = false;
  Meter meter(never);
  meter.start(now_ns());
  const std::uint64_t before = meter.progress();
  meter.sign_of_life();
  EXPECT_NE(meter.progress(), before);
  EXPECT_EQ(meter.operations(), 0U);
}

}  // namespace
}  // namespace ullage::meter_test
