// SPDX-License-Identifier: Apache-2.0
#include "linear/timed_calls.hpp"

#include <gtest/gtest.h>

namespace ullage::timed_calls_test {
namespace {

void spin(std::int64_t ns) {
  const std::int64_t until = now_ns() + ns;
  while (now_ns() < until) {
  }
}

TEST(TimedCalls, AddUpTheCallsAndKnowTheShortest) {
  TimedCalls calls;
  int made = 0;
  for (const std::int64_t ns : {3'000'000, 1'000'000, 2'000'000}) calls.time([&] { spin(ns), ++made; });
  Gauges gauges;
  calls.report(2, gauges);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(calls.count(), 3U);
  EXPECT_GE(gauges["kernel_s"], 0.006);
  EXPECT_GE(gauges["shortest_window_s"], 0.001);
  EXPECT_LT(gauges["shortest_window_s"], gauges["kernel_s"] - 0.002);
  if (gauges["clock_hz"] == 0) GTEST_SKIP() << "the clock of this processor cannot be measured";
  EXPECT_GT(gauges["cycles"] / gauges["kernel_s"], gauges["clock_hz"]);  // of two threads
}

TEST(TimedCalls, NoneAreZero) {
  Gauges gauges;
  TimedCalls().report(1, gauges);
  for (const auto& [name, value] : gauges) EXPECT_EQ(value, 0) << name;
}

TEST(TimedCalls, OnlyWhatWasAskedForIsGiven) {
  CallParameters parameters;
  EXPECT_TRUE(given(parameters).empty());
  parameters.core = "Haswell";
  EXPECT_EQ(given(parameters), (Map{{"core", "Haswell"}}));
  parameters.library = "/a";
  EXPECT_EQ(given(parameters), (Map{{"core", "Haswell"}, {"library", "/a"}}));
}

}  // namespace
}  // namespace ullage::timed_calls_test
