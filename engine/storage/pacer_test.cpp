// SPDX-License-Identifier: Apache-2.0
#include "storage/pacer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ullage::pacer_test {

TEST(Pacer, IsNeverEarly) {
  for (const bool spins : {false, true}) {
    const Pacer pacer(spins);
    const std::int64_t start = now_ns();
    for (int i = 1; i <= 20; ++i) {
      const std::int64_t moment = start + i * 300'000;
      pacer.wait_until(moment);
      EXPECT_GE(now_ns(), moment);
    }
  }
}

/// The best of a few times: this process may stand still for as long in one of them.
TEST(Pacer, APastMomentIsNoWait) {
  const Pacer pacer(false);
  std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
  for (int time = 0; time < 10 && shortest_ns >= 1'000'000'000; ++time) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < 100; ++i) pacer.wait_until(start - 1'000'000'000);
    shortest_ns = std::min(shortest_ns, now_ns() - start);
  }
  EXPECT_LT(shortest_ns, 1'000'000'000);
}

TEST(Pacer, GivesTheTimerSlackBack) {
  const int before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  {
    const Pacer pacer(true);
    EXPECT_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
  }
  EXPECT_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), before);
}

}  // namespace ullage::pacer_test
