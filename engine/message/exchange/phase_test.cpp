// SPDX-License-Identifier: Apache-2.0
#include "message/exchange/phase.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "message/patterns/test_support.hpp"

namespace ullage::exchange_phase_test {
namespace {

Pattern made(ExchangePattern kind, int ranks, std::uint64_t seed = 1) {
  ExchangeParameters parameters;
  parameters.pattern = kind;
  parameters.seed = seed;
  return exchange_pattern(parameters, ranks, "").value();
}

TEST(ExchangePhase, EveryPatternIsItsOwn) {
  EXPECT_EQ(test::messages_of(made(ExchangePattern::ring, 5)), 10U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::best_bisection, 5)), 4U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::worst_bisection, 8)), 8U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::incast, 8)), 7U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::halo_2d, 9)), 24U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::torus_2d, 9)), 36U);
  EXPECT_EQ(test::messages_of(made(ExchangePattern::halo_3d, 8)), 24U);
  EXPECT_EQ(made(ExchangePattern::torus_3d, 27).name, "torus-3d");
}

TEST(ExchangePhase, RandomPairsAreAMatchingThatFollowsItsSeed) {
  const Pattern pattern = made(ExchangePattern::random_bisection, 16);
  EXPECT_EQ(test::messages_of(pattern), 16U);
  std::vector<int> order = pattern.order;
  EXPECT_EQ(order, made(ExchangePattern::random_bisection, 16).order);
  EXPECT_NE(order, made(ExchangePattern::random_bisection, 16, 2).order);
  std::ranges::sort(order);
  for (int rank = 0; rank < 16; ++rank) EXPECT_EQ(order[static_cast<std::size_t>(rank)], rank);
}

TEST(ExchangePhase, BeforeItHasBegunItHasMeasuredNothing) {
  const mpi::World world;
  WorkloadContext context;
  context.world = &world;
  const ExchangePhase phase({}, context);
  EXPECT_EQ(phase.gauges().at("elapsed_s"), 0);
  EXPECT_EQ(phase.gauges().at("messages"), 0);
  EXPECT_EQ(phase.operations(), 5U);
}

}  // namespace
}  // namespace ullage::exchange_phase_test
