// SPDX-License-Identifier: Apache-2.0
#include "base/tick_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace ullage::tick_clock_test {

using namespace std::chrono_literals;

constexpr std::int64_t long_enough_ns = 40'000'000;  // to be set many times, and to learn its rate

TEST(TickClock, NeverGoesBack) {
  TickClock clock;
  const std::int64_t begun = now_ns();
  std::int64_t last = clock.now_ns();
  while (now_ns() - begun < long_enough_ns) {
    const std::int64_t now = clock.now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

/// Least distance from the kernel's clock among some readings: others may have been interrupted.
std::int64_t distance_ns(TickClock& clock) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t before = now_ns();
    const std::int64_t told = clock.now_ns();
    const std::int64_t after = now_ns();
    least = std::min(least, std::max({std::int64_t{0}, before - told, told - after}));
  }
  return least;
}

TEST(TickClock, TellsTheKernelsTimeWhileItIsReadAndAfterAPause) {
  constexpr std::int64_t microsecond = 1000;
  TickClock clock;
  const std::int64_t begun = now_ns();
  while (now_ns() - begun < long_enough_ns) ASSERT_LT(distance_ns(clock), microsecond);
  std::this_thread::sleep_for(30ms);
  EXPECT_LT(distance_ns(clock), microsecond);
}

TEST(TickClock, ANewOneTellsTheTimeAtOnce) {
  TickClock clock;
  EXPECT_LT(distance_ns(clock), 1000);
}

}  // namespace ullage::tick_clock_test
