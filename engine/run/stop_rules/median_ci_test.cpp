// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "run/stop_rules/test_support.hpp"

namespace ullage::median_ci_test {
namespace {

TEST(MedianCi, MedianCiConvergesOnTheWorstPhase) {
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
}  // namespace ullage::median_ci_test
