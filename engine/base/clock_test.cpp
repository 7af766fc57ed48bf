// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::clock_test {
namespace {

TEST(Clock, NeverGoesBack) {
  std::int64_t last = now_ns();
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t now = now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, CountsNanosecondsOfTheMonotonicClock) {
  timespec before{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const std::int64_t now = now_ns();
  timespec after{};
  clock_gettime(CLOCK_MONOTONIC, &after);
  EXPECT_GE(now, before.tv_sec * 1'000'000'000 + before.tv_nsec);
  EXPECT_LE(now, after.tv_sec * 1'000'000'000 + after.tv_nsec);
}

TEST(Clock, AReadHasACost) { EXPECT_GT(clock_read_cost_ns(), 0); }

using Tried = std::vector<std::uint64_t>;

TEST(Calibration, ManyShortRepetitionsFillTheTime) {
  Tried tried;
  const auto found = repetitions_that_last(1e-3, [&](std::uint64_t n) {
    tried.push_back(n);
    return static_cast<std::int64_t>(100 * n);
  });
  EXPECT_EQ(found, 10'000U);
  EXPECT_EQ(tried, (Tried{1, 16, 256, 4096, 4096, 4096})) << "it grows by 16, and repeats what is long enough";
}

TEST(Calibration, ASingleOneMayTakeLonger) {
  EXPECT_EQ(repetitions_that_last(1e-3, [](std::uint64_t n) { return static_cast<std::int64_t>(n) * 5'000'000; }), 1U);
}

TEST(Calibration, AnInterruptedTryDoesNotCount) {
  bool is_first = true;
  const auto found = repetitions_that_last(1e-3, [&](std::uint64_t n) {
    const std::int64_t interrupted_ns = is_first ? 2'000'000 : 0;
    is_first = false;
    return static_cast<std::int64_t>(100 * n) + interrupted_ns;
  });
  EXPECT_EQ(found, 10'000U);
}

TEST(Calibration, WorkWithoutDurationEndsAtTheMost) {
  EXPECT_EQ(repetitions_that_last(1e-3, [](std::uint64_t) { return std::int64_t{0}; }, 1000), 1000U);
}

}  // namespace

}  // namespace ullage::clock_test
