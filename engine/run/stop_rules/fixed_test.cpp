// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "run/stop_rules/test_support.hpp"

namespace ullage::fixed_test {

TEST(Fixed, FixedCounts) {
  const auto rule = make_rule("fixed", {{"count", 2}});
  EXPECT_FALSE(rule->judge({{"write", {1}}, {"read", {1, 2}}}).stop) << "the phase with fewest repetitions counts";
  EXPECT_TRUE(rule->judge({{"write", {1, 2}}, {"read", {1, 2}}}).stop);
  EXPECT_FALSE(rule->judge({}).stop);
}

}  // namespace ullage::fixed_test
