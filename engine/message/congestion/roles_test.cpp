// SPDX-License-Identifier: Apache-2.0
#include "message/congestion/roles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace ullage::congestion_roles_test {
namespace {

TEST(CongestionRoles, AFifthOfTheRanksAndNeverFewerThanTwoOfEither) {
  EXPECT_EQ(count_of_victims(4, 0.2), 2);
  EXPECT_EQ(count_of_victims(8, 0.2), 2);
  EXPECT_EQ(count_of_victims(13, 0.2), 3);
  EXPECT_EQ(count_of_victims(100, 0.2), 20);
  EXPECT_EQ(count_of_victims(5, 0.9), 3);
}

TEST(CongestionRoles, VictimsAreDifferentRanksAndTheSameForTheSameSeed) {
  const std::vector<int> victims = choose_victims(50, 10, 3);
  EXPECT_EQ(std::set<int>(victims.begin(), victims.end()).size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(victims));
  EXPECT_GE(victims.front(), 0);
  EXPECT_LT(victims.back(), 50);
  EXPECT_EQ(victims, choose_victims(50, 10, 3));
  EXPECT_NE(victims, choose_victims(50, 10, 4));
}

/// Each of the 10 choices of 2 out of 5 about 500 times in 5000; the bounds are six standard deviations.
TEST(CongestionRoles, EveryChoiceOfVictimsIsAsLikely) {
  std::map<std::vector<int>, int> seen;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) ++seen[choose_victims(5, 2, seed)];
  EXPECT_EQ(seen.size(), 10U);
  for (const auto& [victims, times] : seen) {
    EXPECT_GT(times, 372);
    EXPECT_LT(times, 628);
  }
}

/// Also those that leave somebody in his place: a shuffle that is always a single cycle knows 6 of 24.
TEST(CongestionRoles, EveryOrderOfARingIsAsLikely) {
  std::map<std::vector<int>, int> seen;
  for (std::uint64_t ring = 0; ring < 4800; ++ring) ++seen[ring_order(4, 1, ring)];
  EXPECT_EQ(seen.size(), 24U);
  for (const auto& [order, times] : seen) {
    EXPECT_GT(times, 117);
    EXPECT_LT(times, 283);
  }
}

}  // namespace
}  // namespace ullage::congestion_roles_test
