// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/facts.hpp"

#include <gtest/gtest.h>

namespace ullage::b_eff_facts_test {
namespace {

Json facts(int ranks, int most_places = 1024) {
  BEffPatterns::Options options;
  options.ranks = ranks;
  return facts_of(BEffPatterns(options), most_places);
}

std::size_t degenerate(const Json& patterns, const std::string& prefix) {
  std::size_t found = 0;
  for (const auto& [name, pattern] : patterns.items())
    if (name.starts_with(prefix) && pattern["degenerate"].get<bool>()) ++found;
  return found;
}

TEST(BEffFacts, SayWhatAPatternIsMadeOf) {
  const Json patterns = facts(33);
  EXPECT_EQ(patterns.size(), 49U);
  EXPECT_EQ(patterns["ring-3"]["rings"], Json::parse("[16, 17]"));
  EXPECT_FALSE(patterns["ring-3"].contains("dims"));
  EXPECT_EQ(patterns["cyclic-3d-all"]["dims"], Json::parse("[4, 4, 2]"));
  EXPECT_EQ(patterns["ping-pong"]["order"], Json::parse("[0, 1]"));
  EXPECT_EQ(patterns["worst-cyclic"]["order"].size(), 33U);
  EXPECT_EQ(patterns["worst-cyclic"]["order"][1], 32);
}

TEST(BEffFacts, OrdersOfManyRanksAreLeftOut) {
  const Json patterns = facts(33, 32);
  EXPECT_FALSE(patterns["random-00"].contains("order"));
  EXPECT_TRUE(patterns["cyclic-3d-all"].contains("order"));  // 32 of them
  EXPECT_EQ(patterns["random-00"]["rings"], Json::parse("[33]"));
}

/// Published: of two and three ranks all rings are the same, of 33 the last two.
TEST(BEffFacts, PatternsThatAreAsEarlierOnesAreDegenerate) {
  EXPECT_EQ(degenerate(facts(2), "ring-"), 5U);
  EXPECT_EQ(degenerate(facts(2), "random-"), 30U);
  EXPECT_EQ(degenerate(facts(5), "ring-"), 4U);
  EXPECT_EQ(degenerate(facts(7), "ring-"), 3U);
  EXPECT_EQ(degenerate(facts(24), "ring-"), 2U);
  EXPECT_EQ(degenerate(facts(100), "ring-"), 0U);
  EXPECT_EQ(degenerate(facts(100), "random-"), 0U);
  const Json of_33 = facts(33);
  EXPECT_EQ(of_33["ring-5"]["same_as"], "ring-4");
  EXPECT_FALSE(of_33["ring-4"].contains("same_as"));
  EXPECT_EQ(facts(2)["best-bisection"]["degenerate"], false);  // one after the other, not both at once
  EXPECT_EQ(facts(2)["worst-bisection"]["same_as"], "best-bisection");
}

}  // namespace
}  // namespace ullage::b_eff_facts_test
