// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "run/stop_rules/test_support.hpp"

namespace ullage::median_ci_test {

std::vector<std::int64_t> narrow(std::int64_t count) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(1000 + i);
  return values;
}

TEST(MedianCi, MedianCiConvergesOnTheWorstPhase) {
  const auto rule = make_rule("median-ci", {{"relative_width", 0.05}, {"minimum", 6}, {"maximum", 7}});
  const std::vector<std::int64_t> wide{100, 110, 120, 130, 140, 150};
  EXPECT_EQ(rule->judge({{"write", narrow(6)}}).reason, "converged");
  const auto both = rule->judge({{"write", narrow(6)}, {"read", wide}});
  EXPECT_FALSE(both.stop);
  EXPECT_GT(*both.relative_width, 0.1);
  EXPECT_EQ(rule->judge({{"read", {100, 110, 120, 130, 140, 150, 160}}}).reason, "count");
}

// The range of 3 that happen to lie close together covers the median in 3 of 4 cases only.
TEST(MedianCi, FewerThanSixNeverConverge) {
  const auto rule = make_rule("median-ci", {{"relative_width", 0.05}, {"minimum", 3}});
  for (std::int64_t count = 1; count < 6; ++count) {
    EXPECT_FALSE(rule->judge({{"write", narrow(count)}}).stop) << count;
    EXPECT_FALSE(rule->judge({{"write", narrow(count)}}).relative_width.has_value()) << count;
  }
}

TEST(MedianCi, LooksNowAndThen) {
  const auto rule = make_rule("median-ci", {{"relative_width", 0.05}, {"maximum", 40}});
  std::vector<std::int64_t> looks;
  for (std::int64_t count = 1; count < 40; ++count)
    if (rule->judge({{"write", narrow(count)}}).stop) looks.push_back(count);
  EXPECT_EQ(looks, (std::vector<std::int64_t>{6, 10, 15, 21, 28, 36}));
}

TEST(MedianCi, CorrelationMakesTheIntervalWider) {
  const auto rule = make_rule("median-ci", {{"relative_width", 0.05}, {"correlation", 0.3}});
  EXPECT_FALSE(rule->judge({{"write", narrow(6)}}).stop);
  EXPECT_TRUE(rule->judge({{"write", narrow(10)}}).stop);
}

}  // namespace ullage::median_ci_test
