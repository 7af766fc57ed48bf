// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/rank_order.hpp"

#include <gtest/gtest.h>

#include "message/patterns/test_support.hpp"

namespace ullage::rank_order_test {

std::vector<int> sorted(std::vector<int> order) {
  std::ranges::sort(order);
  return order;
}

std::vector<int> all_ranks(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(RankOrder, EveryRankHasOnePlace) {
  for (const auto kind : {RandomOrder::uniform, RandomOrder::slot_probe})
    for (const int ranks : {1, 2, 3, 7, 64, 1000})
      for (std::uint64_t seed = 0; seed < 5; ++seed)
        EXPECT_EQ(sorted(random_order(kind, ranks, seed, 3)), all_ranks(ranks));
}

TEST(RankOrder, SeedAndNumberMakeTheOrder) {
  for (const auto kind : {RandomOrder::uniform, RandomOrder::slot_probe}) {
    EXPECT_EQ(random_order(kind, 50, 1, 2), random_order(kind, 50, 1, 2));
    EXPECT_NE(random_order(kind, 50, 1, 2), random_order(kind, 50, 1, 3));
    EXPECT_NE(random_order(kind, 50, 1, 2), random_order(kind, 50, 2, 2));
  }
  EXPECT_NE(random_order(RandomOrder::uniform, 50, 1, 2), random_order(RandomOrder::slot_probe, 50, 1, 2));
}

TEST(RankOrder, UniformFavoursNoOrder) {
  std::map<std::vector<int>, int> times;
  constexpr int draws = 24'000;
  for (std::uint64_t i = 0; i < draws; ++i) ++times[random_order(RandomOrder::uniform, 4, 9, i)];
  ASSERT_EQ(times.size(), 24U);
  double chi_squared = 0;
  for (const auto& [order, count] : times) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_squared, 49.7);  // 23 degrees of freedom, p = 0.001; the draws are the same in every run
}

int neighbours_kept(RandomOrder kind) {
  int kept = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto order = random_order(kind, 64, 5, i);
    for (std::size_t place = 0; place + 1 < order.size(); ++place) kept += order[place + 1] == order[place] + 1 ? 1 : 0;
  }
  return kept;
}

/// By chance one pair an order stays together.
TEST(RankOrder, ProbingKeepsNeighboursTogetherMoreOftenThanChance) {
  EXPECT_NEAR(neighbours_kept(RandomOrder::uniform), 200, 60);
  EXPECT_GT(neighbours_kept(RandomOrder::slot_probe), 2 * neighbours_kept(RandomOrder::uniform));
}

TEST(RankOrder, ManyRanksAreProbedInNoTime) {
  constexpr int ranks = 50'000;
  EXPECT_EQ(sorted(random_order(RandomOrder::slot_probe, ranks, 1, 0)), all_ranks(ranks));
}

TEST(RankOrder, FoldedGoesFromBothEndsToTheMiddle) {
  EXPECT_EQ(folded_order(5), (std::vector{0, 4, 1, 3, 2}));
  EXPECT_EQ(folded_order(6), (std::vector{0, 5, 1, 4, 2, 3}));
  EXPECT_TRUE(folded_order(0).empty());
}

TEST(RankOrder, WordsAreThoseOfAPlan) {
  const auto words = words_of(RandomOrder{});
  EXPECT_EQ(words.front(), (std::pair<RandomOrder, std::string>{RandomOrder::uniform, "uniform"}));
  EXPECT_EQ(words.back(), (std::pair<RandomOrder, std::string>{RandomOrder::slot_probe, "slot-probe"}));
}

int partner(const Pattern& pattern, int rank) {
  const auto steps = steps_of(pattern, rank);
  if (steps.empty()) return mpi::MessageStep::nobody;
  return std::max(steps.front().to, steps.front().from);
}

TEST(Bisection, BestIsWithTheRankBeside) {
  const Pattern best = best_bisection(7);
  EXPECT_EQ(test::messages_of(best), 6U);
  EXPECT_EQ(partner(best, 0), 1);
  EXPECT_EQ(partner(best, 5), 4);
  EXPECT_EQ(partner(best, 6), mpi::MessageStep::nobody);
}

TEST(Bisection, WorstIsWithTheOtherEnd) {
  const Pattern worst = worst_bisection(7);
  EXPECT_EQ(test::messages_of(worst), 6U);
  EXPECT_EQ(partner(worst, 0), 5);
  EXPECT_EQ(partner(worst, 1), 4);
  EXPECT_EQ(partner(worst, 3), 2);
  EXPECT_EQ(partner(worst, 6), mpi::MessageStep::nobody);
}

TEST(Bisection, LowerRankBegins) {
  EXPECT_EQ(steps_of(worst_bisection(6), 0).front().to, 5);
  EXPECT_EQ(steps_of(best_bisection(6), 4).front().to, 5);
}

TEST(Bisection, OnePairIsTheFirst) {
  EXPECT_EQ(test::messages_of(first_pair()), 2U);
  EXPECT_EQ(partner(first_pair(), 0), 1);
  EXPECT_EQ(partner(first_pair(), 2), mpi::MessageStep::nobody);
}

}  // namespace ullage::rank_order_test
