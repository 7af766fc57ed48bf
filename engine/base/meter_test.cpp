// SPDX-License-Identifier: Apache-2.0
#include "base/meter.hpp"

#include <gtest/gtest.h>

namespace ullage::meter_test {

TEST(Meter, CountsBytesOperationsAndLatencies) {
  Meter meter;
  meter.start(now_ns());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(meter.completed(10));
  EXPECT_EQ(meter.bytes(), 1000U);
  EXPECT_EQ(meter.operations(), 100U);
  EXPECT_EQ(meter.histogram().operations(), 100U);
  EXPECT_EQ(meter.series().until(now_ns()).bytes, 1000U);
}

TEST(Meter, StopsAtTheDeadlineAfterTheOperationThatPassedIt) {
  Meter meter;
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

TEST(Meter, ThatOnlyCountsReadsNoClock) {
  std::atomic<bool> stop = false;
  Meter meter(stop);
  meter.only_count();
  meter.start(7);
  EXPECT_TRUE(meter.completed(10));
  EXPECT_EQ(meter.bytes(), 10U);
  EXPECT_EQ(meter.operations(), 1U);
  EXPECT_EQ(meter.last_ns(), 7);
  EXPECT_EQ(meter.histogram().operations(), 0U);
  stop = true;
  EXPECT_FALSE(meter.completed(10));
}

TEST(Meter, WhatLiesBeforeResumeIsNoLatency) {
  constexpr std::int64_t minute_ns = 60'000'000'000;
  Meter meter;
  meter.start(now_ns() - minute_ns);
  meter.resume(now_ns());
  EXPECT_TRUE(meter.completed(1));
  EXPECT_LT(meter.histogram().max_ns(), static_cast<std::uint64_t>(minute_ns));
  meter.start(now_ns() - minute_ns);
  EXPECT_TRUE(meter.completed(1));
  EXPECT_GE(meter.histogram().max_ns(), static_cast<std::uint64_t>(minute_ns));
}

TEST(Meter, ManyAtOnceCountAsMany) {
  Meter meter;
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

/// Short ones share a reading of the clock, and none is lost: sums stay exact.
TEST(Meter, GroupsShortOperationsAlone) {
  Meter meter;
  const std::int64_t start = now_ns();
  meter.start(start);
  EXPECT_TRUE(meter.each(10'000, [](std::uint64_t) { return 8U; }));
  EXPECT_EQ(meter.operations(), 10'000U);
  EXPECT_EQ(meter.bytes(), 80'000U);
  // An instrumented build may take longer for each operation than what is stamped alone.
  EXPECT_EQ(meter.stamps() < 10'000U,
            meter.histogram().min_ns() < static_cast<std::uint64_t>(Meter::shortest_stamped_ns));
  EXPECT_GE(meter.stamps(), 10'000U / Meter::largest_group);
  EXPECT_EQ(meter.histogram().operations(), 10'000U);
  EXPECT_EQ(meter.histogram().sum_ns(), static_cast<std::uint64_t>(meter.last_ns() - start));
  EXPECT_EQ(meter.series().until(meter.last_ns()).operations, 10'000U);
  meter.start(now_ns());
  EXPECT_EQ(meter.stamps(), 0U);
  const auto lasts = [](std::uint64_t) {
    const std::int64_t until = now_ns() + 2 * Meter::shortest_stamped_ns;
    while (now_ns() < until) continue;
    return 8U;
  };
  EXPECT_TRUE(meter.each(500, lasts));
  EXPECT_EQ(meter.stamps(), 500U);
}

TEST(Meter, EachEndsWithTheOperationThatFailsOrAStop) {
  Meter meter;
  meter.start(now_ns());
  EXPECT_FALSE(meter.each(1000, [](std::uint64_t i) { return i < 700 ? 8U : 0U; }));
  EXPECT_EQ(meter.operations(), 700U) << "those before it were done";
  EXPECT_EQ(meter.bytes(), 5600U);
  EXPECT_FALSE(meter.each(1, [](std::uint64_t) { return 0U; }));
  EXPECT_EQ(meter.operations(), 700U);
  meter.start(now_ns(), now_ns() - 1);
  EXPECT_TRUE(meter.each(1000, [](std::uint64_t) { return 8U; }));
  EXPECT_EQ(meter.operations(), 1U);
}

TEST(Meter, PartsAreForgottenWithEverythingElse) {
  Meter meter;
  meter.use_parts(2);
  meter.start(now_ns());
  meter.add_part(1, 500);
  EXPECT_EQ(meter.parts()[0].operations(), 0U);
  EXPECT_EQ(meter.parts()[1].sum_ns(), 500U);
  meter.start(now_ns());
  EXPECT_EQ(meter.parts()[1].operations(), 0U);
}

TEST(Meter, SignOfLifeIsProgressAndNoOperation) {
  Meter meter;
  meter.start(now_ns());
  const std::uint64_t before = meter.progress();
  meter.report_alive();
  EXPECT_NE(meter.progress(), before);
  EXPECT_EQ(meter.operations(), 0U);
}

TEST(Meter, IsAsNewForTheNextPhase) {
  const std::atomic<bool> stop = true;
  Meter meter(stop);
  meter.use_histogram(false);
  meter.only_count();
  meter.obey_stop(false);
  meter.use_parts(1);
  meter.start(0, 1);
  meter.renew(true, 2);
  meter.begin(now_ns());
  EXPECT_FALSE(meter.completed(8)) << "it is being stopped";
  EXPECT_EQ(meter.histogram().operations(), 1U);
  EXPECT_EQ(meter.parts().size(), 2U);
  meter.renew(false, 0);
  meter.begin(now_ns());
  EXPECT_TRUE(meter.completed(8));
}

TEST(Sampling, TakesOneIn32WhateverThePeriodOfTheWork) {
  constexpr std::uint64_t looks = 320'000;
  for (const std::uint64_t period : {1U, 2U, 8U, 31U, 32U, 64U, 100U, 1024U})
    for (const std::uint64_t phase : {std::uint64_t{0}, period / 2, period - 1}) {
      std::uint64_t taken = 0;
      for (std::uint64_t i = 0; i < looks; ++i) taken += is_sampled(i * period + phase, 7) ? 1U : 0U;
      EXPECT_NEAR(static_cast<double>(taken), looks / 32.0, looks / 320.0) << period << " " << phase;
    }
}

TEST(Sampling, NoNumberIsTakenByEveryKeyOrByNone) {
  constexpr std::uint64_t keys = 32'000;
  for (const std::uint64_t n : {0U, 1U, 31U, 32U, 999U}) {
    std::uint64_t taken = 0;
    for (std::uint64_t key = 0; key < keys; ++key) taken += is_sampled(n, mix64(key)) ? 1U : 0U;
    EXPECT_NEAR(static_cast<double>(taken), keys / 32.0, keys / 160.0) << n;
  }
}

}  // namespace ullage::meter_test
