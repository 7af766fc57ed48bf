// SPDX-License-Identifier: Apache-2.0
#include "run/stop_rule.hpp"

#include <gtest/gtest.h>

namespace ullage::stop_rule_test {
namespace {

std::vector<std::int64_t> ramp(std::int64_t n) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= n; ++i) values.push_back(i * 100);
  return values;
}

// Ranks of the symmetric 95 % interval of a median, exact binomial: n = 6: 1 and 6, 9: 2 and 8, 12: 3 and 10, 15: 4 and
// 12, 20: 6 and 15.
TEST(StopRule, IntervalRanksAreThoseOfTheBinomial) {
  EXPECT_DOUBLE_EQ(*relative_median_width(ramp(6), 0.95), (600 - 100) / 2.0 / 350);
  EXPECT_DOUBLE_EQ(*relative_median_width(ramp(9), 0.95), (800 - 200) / 2.0 / 500);
  EXPECT_DOUBLE_EQ(*relative_median_width(ramp(12), 0.95), (1000 - 300) / 2.0 / 650);
  EXPECT_DOUBLE_EQ(*relative_median_width(ramp(15), 0.95), (1200 - 400) / 2.0 / 800);
  EXPECT_DOUBLE_EQ(*relative_median_width(ramp(20), 0.95), (1500 - 600) / 2.0 / 1050);
}

TEST(StopRule, FewSamplesUseTheirFullRange) {
  EXPECT_FALSE(relative_median_width(std::vector<std::int64_t>{5}, 0.95).has_value());
  EXPECT_DOUBLE_EQ(*relative_median_width({90, 110, 100}, 0.95), 0.1);
}

}  // namespace
}  // namespace ullage::stop_rule_test
