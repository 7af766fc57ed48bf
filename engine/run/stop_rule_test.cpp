// SPDX-License-Identifier: Apache-2.0
#include "run/stop_rule.hpp"

#include <gtest/gtest.h>

#include "run/median_interval.hpp"

namespace ullage::stop_rule_test {
namespace {

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

}  // namespace
}  // namespace ullage::stop_rule_test
