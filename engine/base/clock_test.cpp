// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ullage::clock_test
