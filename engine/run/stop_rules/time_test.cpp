// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "run/stop_rules/test_support.hpp"

namespace ullage::time_test {

TEST(TimeRule, TimeNeedsBothTimeAndMinimum) {
  const auto rule = make_rule("time", {{"seconds", 1.0}, {"minimum", 2}});
  EXPECT_FALSE(rule->judge({{"write", {2'000'000'000}}}).stop);
  EXPECT_FALSE(rule->judge({{"write", {100, 100}}}).stop);
  EXPECT_TRUE(rule->judge({{"write", {500'000'000}}, {"read", {600'000'000}}}).stop == false);
  EXPECT_TRUE(rule->judge({{"write", {500'000'000, 1}}, {"read", {600'000'000, 1}}}).stop);
}

}  // namespace ullage::time_test
