// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/bisection.hpp"

#include <gtest/gtest.h>

#include "message/patterns/test_support.hpp"

namespace ullage::bisection_test {
namespace {

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

}  // namespace
}  // namespace ullage::bisection_test
