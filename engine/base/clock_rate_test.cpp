// SPDX-License-Identifier: Apache-2.0
#include "base/clock_rate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ullage::clock_rate_test {

TEST(ClockRate, DisagreementIsRelativeAndNeedsBoth) {
  EXPECT_NEAR((ClockRate{3.0e9, 2.0e9}.disagreement()), 0.5, 1e-12);
  EXPECT_EQ((ClockRate{3.0e9, 0}.disagreement()), 0);
  EXPECT_EQ(ClockRate{}.disagreement(), 0);
}

// What runs on the other hardware thread of the core may slow the additions by half for as long as it likes, the
// multiplications hardly: the best of each is compared, and only what a wrong latency would bring about is refused.
TEST(ClockRate, AdditionsAreNotFoldedAndMultiplicationsTakeWhatIsSaid) {
#if defined(__x86_64__)
  ClockRate best;
  for (int attempt = 0; attempt < 200; ++attempt) {
    const ClockRate rate = read_clock_rate();
    best = {std::max(best.add_hz, rate.add_hz), std::max(best.multiply_hz, rate.multiply_hz)};
  }
  EXPECT_GT(best.add_hz, 1e8);
  EXPECT_LT(best.add_hz, 1e10);  // folded additions would run several a cycle
  EXPECT_LE(best.add_hz, 1.1 * best.multiply_hz);
  EXPECT_GE(best.add_hz, 0.45 * best.multiply_hz);
#else
  GTEST_SKIP() << "one chain only";
#endif
}

}  // namespace ullage::clock_rate_test
