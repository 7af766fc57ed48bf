// SPDX-License-Identifier: Apache-2.0
#include "run/stop_rule.hpp"

#include <gtest/gtest.h>

namespace ullage::stop_rule_test {

TEST(StopRule, TheWorstPhaseCounts) {
  const std::vector<std::int64_t> narrow{100, 101, 102, 103, 104, 105};
  const std::vector<std::int64_t> wide{100, 110, 120, 130, 140, 150};
  EXPECT_DOUBLE_EQ(*relative_median_width({{"write", narrow}, {"read", wide}}, 0.95),
                   median_interval(wide, 0.95, 0)->relative_width());
}

TEST(StopRule, AWidthIsOfAllPhasesOrOfNone) {
  EXPECT_FALSE(relative_median_width({{"write", {1, 2, 3, 4, 5, 6}}, {"read", {1, 2, 3}}}, 0.95));
  EXPECT_FALSE(relative_median_width({}, 0.95));
}

std::vector<std::int64_t> ramp(std::int64_t n) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= n; ++i) values.push_back(i * 100);
  return values;
}

struct Known {
  std::vector<std::int64_t> samples;
  double level;
  double correlation;
  double low;
  double high;
  double width;
};

// tests/analysis/statistics/test_intervals.py has the same table, and how its first line follows from Nyblom's formula.
TEST(MedianInterval, IsTheOneOfTheRows) {
  const std::vector<std::int64_t> noisy{1013, 997, 1102, 988, 1004, 1031, 1009, 1250, 1001, 995};
  const std::vector<Known> table{
      {ramp(6), 0.95, 0.0, 110.73097323061575, 584.1265540954774, 0.8315070333380046},
      {ramp(7), 0.95, 0.0, 151.5716566510399, 638.1605689480842, 0.7187657164114949},
      {ramp(9), 0.95, 0.0, 199.20027694716296, 800.5448468886957, 0.6954909095085471},
      {ramp(12), 0.90, 0.0, 357.1544434637993, 938.1297955142325, 0.4828600056042873},
      {ramp(15), 0.95, 0.3, 333.07530025767034, 1262.7159702383165, 0.6663258103686269},
      {ramp(20), 0.95, 0.0, 594.76594807075, 1504.659441513675, 0.46407695164884805},
      {noisy, 0.95, 0.0, 995.9420283952032, 1067.950807742301, 0.03490395341239247},
      {noisy, 0.95, 0.3, 994.2784012357729, 1116.3631024598221, 0.057907100741453464},
  };
  for (const Known& known : table) {
    const auto found = median_interval(known.samples, known.level, known.correlation);
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->low, known.low, 1e-7);
    EXPECT_NEAR(found->high, known.high, 1e-7);
    EXPECT_NEAR(found->relative_width(), known.width, 1e-9);
  }
}

TEST(MedianInterval, FewSamplesHaveNone) {
  EXPECT_FALSE(median_interval(ramp(1), 0.95, 0));
  EXPECT_FALSE(median_interval(ramp(5), 0.95, 0));
  EXPECT_FALSE(median_interval(ramp(6), 0.95, 0.3)) << "resembling each other they are worth fewer";
  EXPECT_FALSE(median_interval({0, 1, 2, 3, 4, 5}, 0.95, 0)) << "a time is above 0";
}

}  // namespace ullage::stop_rule_test
