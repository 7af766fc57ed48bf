// SPDX-License-Identifier: Apache-2.0
#include "base/clock_rate.hpp"

#include <gtest/gtest.h>

namespace ullage::clock_rate_test {
namespace {

TEST(ClockRate, DisagreementIsRelativeAndNeedsBoth) {
  EXPECT_NEAR((ClockRate{3.0e9, 2.0e9}.disagreement()), 0.5, 1e-12);
  EXPECT_EQ((ClockRate{3.0e9, 0}.disagreement()), 0);
  EXPECT_EQ(ClockRate{}.disagreement(), 0);
}

TEST(ClockRate, TwoChainsSayTheSameWhenNothingIsInTheWay) {
#if defined(__x86_64__)
  double best = 1;
  for (int attempt = 0; attempt < 200 && best > most_disagreement; ++attempt)
    best = std::min(best, read_clock_rate().disagreement());
  EXPECT_LE(best, most_disagreement);
  const ClockRate rate = read_clock_rate();
  EXPECT_GT(rate.add_hz, 1e8);
  EXPECT_LT(rate.add_hz, 1e10);  // folded additions would run several a cycle
#else
  GTEST_SKIP() << "one chain only";
#endif
}

}  // namespace
}  // namespace ullage::clock_rate_test
