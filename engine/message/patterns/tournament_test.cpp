// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/tournament.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace ullage::tournament_test {
namespace {

TEST(Tournament, EveryPairMeetsOnceAndNobodyTwiceInARound) {
  for (int players = 2; players <= 33; ++players) {
    std::set<std::pair<int, int>> met;
    for (int round = 0; round < tournament_rounds(players); ++round) {
      int without = 0;
      for (int player = 0; player < players; ++player) {
        const int other = opponent_in_round(players, round, player);
        if (other == no_opponent) {
          ++without;
          continue;
        }
        ASSERT_EQ(opponent_in_round(players, round, other), player);
        ASSERT_NE(other, player);
        if (player < other) {
          ASSERT_TRUE(met.emplace(player, other).second) << players << " players, round " << round;
        }
      }
      EXPECT_EQ(without, players % 2);
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(players * (players - 1) / 2));
  }
}

TEST(Tournament, TakesAsFewRoundsAsCanBe) {
  EXPECT_EQ(tournament_rounds(2), 1);
  EXPECT_EQ(tournament_rounds(3), 3);
  EXPECT_EQ(tournament_rounds(8), 7);
  EXPECT_EQ(tournament_rounds(9), 9);
}

TEST(Tournament, LargeNumbersDoNotOverflow) {
  constexpr int players = 1'000'000;
  const int other = opponent_in_round(players, players - 2, players - 1);
  EXPECT_EQ(opponent_in_round(players, players - 2, other), players - 1);
}

}  // namespace
}  // namespace ullage::tournament_test
