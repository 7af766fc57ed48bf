// SPDX-License-Identifier: Apache-2.0
#include "core/stop_rule.hpp"

#include <gtest/gtest.h>

namespace ullage {
namespace {

std::unique_ptr<StopRule> make_rule(const std::string& name, const Values& given) {
  const auto* entry = Registry<StopRuleEntry>::instance().find(name);
  return entry->make(*complete(entry->description.parameters, given, ""));
}

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

TEST(StopRule, FixedCounts) {
  const auto rule = make_rule("fixed", {{"count", std::int64_t{2}}});
  EXPECT_FALSE(rule->judge({{"write", {1}}, {"read", {1, 2}}}).stop) << "the phase with fewest repetitions counts";
  EXPECT_TRUE(rule->judge({{"write", {1, 2}}, {"read", {1, 2}}}).stop);
  EXPECT_FALSE(rule->judge({}).stop);
}

TEST(StopRule, TimeNeedsBothTimeAndMinimum) {
  const auto rule = make_rule("time", {{"seconds", 1.0}, {"minimum", std::int64_t{2}}});
  EXPECT_FALSE(rule->judge({{"write", {2'000'000'000}}}).stop);
  EXPECT_FALSE(rule->judge({{"write", {100, 100}}}).stop);
  EXPECT_TRUE(rule->judge({{"write", {500'000'000}}, {"read", {600'000'000}}}).stop == false);
  EXPECT_TRUE(rule->judge({{"write", {500'000'000, 1}}, {"read", {600'000'000, 1}}}).stop);
}

TEST(StopRule, MedianCiConvergesOnTheWorstPhase) {
  const auto rule =
      make_rule("median-ci", {{"relative_width", 0.05}, {"minimum", std::int64_t{3}}, {"maximum", std::int64_t{4}}});
  EXPECT_FALSE(rule->judge({{"write", {100, 100}}}).stop) << "below the minimum";
  EXPECT_EQ(rule->judge({{"write", {100, 101, 102}}}).reason, "converged");
  const auto wide = rule->judge({{"write", {100, 101, 102}}, {"read", {100, 150, 200}}});
  EXPECT_FALSE(wide.stop);
  EXPECT_NEAR(*wide.relative_width, 1.0 / 3, 1e-12);
  EXPECT_EQ(rule->judge({{"read", {100, 150, 200, 300}}}).reason, "count");
}

}  // namespace
}  // namespace ullage
