// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/pair_schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace ullage::pair_schedule_test {

using Met = std::map<std::pair<int, int>, int>;

/// Returns how often each ordered pair meets; both ends must see the same turn, and no end may be in two pairs at once.
Met all_met(const PairSchedule& schedule, int ends) {
  Met met;
  for (std::uint64_t turn = 0; turn < schedule.turns(); ++turn) {
    std::set<int> busy;
    for (int end = 0; end < ends; ++end) {
      const auto found = schedule.at(turn, end);
      if (!found) continue;
      EXPECT_TRUE(found->client == end || found->server == end);
      const int other = found->client == end ? found->server : found->client;
      EXPECT_EQ(schedule.at(turn, other), found);
      EXPECT_TRUE(busy.insert(end).second);
      if (found->client == end) ++met[{found->client, found->server}];
    }
  }
  return met;
}

TEST(PairSchedule, EveryOrderedPairOnceAloneAndTogether) {
  for (int ends = 2; ends <= 17; ++ends)
    for (const PairConcurrency concurrency : {PairConcurrency::alone, PairConcurrency::together}) {
      const Met met = all_met(PairSchedule(ends, concurrency), ends);
      EXPECT_EQ(met.size(), static_cast<std::size_t>(ends * (ends - 1)));
      for (const auto& [pair, times] : met) {
        EXPECT_EQ(times, 1);
        EXPECT_NE(pair.first, pair.second);
      }
    }
}

TEST(PairSchedule, AloneThereIsOnePairATurn) {
  const PairSchedule schedule(5, PairConcurrency::alone);
  for (std::uint64_t turn = 0; turn < schedule.turns(); ++turn) {
    int busy = 0;
    for (int end = 0; end < 5; ++end) busy += schedule.at(turn, end).has_value() ? 1 : 0;
    EXPECT_EQ(busy, 2);
  }
}

TEST(PairSchedule, AStrideLeavesTheOthersOut) {
  const Met met = all_met(PairSchedule(20, PairConcurrency::alone, 7), 20);
  EXPECT_EQ(met.size(), 6U);  // among 0, 7 and 14
  EXPECT_EQ(met.count({14, 7}), 1U);
  EXPECT_EQ(met.count({1, 7}), 0U);
}

TEST(PairSchedule, StrideFollowsTheBudgetAndIsOneOrAnOddPrime) {
  EXPECT_EQ(sampling_stride(2, 10, 1e-3), 1);
  EXPECT_EQ(sampling_stride(100, 10, 1e-3), 1);    // 100 a side fit
  EXPECT_EQ(sampling_stride(150, 10, 1e-3), 3);    // 2.4 is 2, which becomes 3
  EXPECT_EQ(sampling_stride(350, 10, 1e-3), 5);    // 4.4 is 4, whose next prime is 5
  EXPECT_EQ(sampling_stride(100, 10, 1e9), 23);    // five a side at least: 20.9 is 20, then 23
  EXPECT_EQ(sampling_stride(3000, 10, 1e-3), 31);  // 30.9 is 30
}

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

}  // namespace ullage::pair_schedule_test
