// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/revolve.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/stepfile/revolve_test_support.hpp"

namespace ullage::revolve_test {

TEST(Revolve, FormulaGivesThePublishedNumbers) {
  EXPECT_EQ(test::revolve_advances(10, 3), 15U) << "numforw(10, 3) of Algorithm 799";
  EXPECT_EQ(revolve_repetitions(10, 3), 2U);
  EXPECT_EQ(test::revolve_advances(1, 1), 0U);
  EXPECT_EQ(test::revolve_advances(7, 1), 21U) << "from the start each time: 6 + 5 + 4 + 3 + 2 + 1";
  EXPECT_EQ(test::revolve_recomputations(7, 7), 0U) << "every state is kept";
  EXPECT_EQ(test::revolve_recomputations(7, 100), 0U);
}

/// By trying every place for the next checkpoint.
TEST(Revolve, FormulaIsTheLeastOfAllSchedules) {
  constexpr std::uint64_t most_steps = 60;
  std::vector<std::uint64_t> fewer(most_steps + 1);
  for (std::uint64_t l = 0; l <= most_steps; ++l) fewer[l] = l * (l > 0 ? l - 1 : 0) / 2;
  for (std::uint64_t c = 2; c <= 9; ++c) {
    std::vector<std::uint64_t> best(most_steps + 1);
    for (std::uint64_t l = 2; l <= most_steps; ++l) {
      best[l] = fewer[l];
      for (std::uint64_t m = 1; m < l; ++m) best[l] = std::min(best[l], m + best[m] + fewer[l - m]);
      EXPECT_EQ(test::revolve_advances(l, c), best[l]) << l << " steps, " << c << " checkpoints";
    }
    fewer = best;
  }
}

TEST(Revolve, ActionsOfASmallCaseAreThese) {
  using Kind = RevolveAction::Kind;
  Revolve revolve(3, 2);
  std::vector<RevolveAction> actions;
  while (const auto action = revolve.next()) actions.push_back(*action);
  const std::vector<RevolveAction> wanted{{Kind::store, 0, 0},   {Kind::advance, 1, 0}, {Kind::store, 1, 1},
                                          {Kind::advance, 2, 0}, {Kind::turn, 2, 0},    {Kind::restore, 1, 1},
                                          {Kind::turn, 1, 0},    {Kind::restore, 0, 0}, {Kind::turn, 0, 0}};
  EXPECT_EQ(actions, wanted);
}

TEST(Revolve, LargeNumbersStayInRange) {
  EXPECT_EQ(revolve_repetitions(12'500, 100), 3U) << "C(102, 2) = 5151 < 12500 <= C(103, 3) = 176851";
  EXPECT_EQ(test::revolve_advances(12'500, 100), 3U * 12'500 - 5253) << "C(103, 2) = 5253";
  EXPECT_EQ(revolve_repetitions(std::uint64_t{1} << 40, 1U << 20), 3U);
}

std::vector<std::uint64_t> visited(StepOrderKind kind, std::uint64_t steps, std::uint64_t stride = 1) {
  const StepOrder order(kind, steps, stride);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < steps; ++i) all.push_back(order(i));
  return all;
}

using Steps = std::vector<std::uint64_t>;

TEST(StepOrder, IsTheOneItIsCalled) {
  EXPECT_EQ(visited(StepOrderKind::forward, 4), (Steps{0, 1, 2, 3}));
  EXPECT_EQ(visited(StepOrderKind::reverse, 4), (Steps{3, 2, 1, 0}));
  EXPECT_EQ(visited(StepOrderKind::stride, 7, 3), (Steps{0, 3, 6, 1, 4, 2, 5}));
  EXPECT_EQ(visited(StepOrderKind::stride, 4, 1), (Steps{0, 1, 2, 3}));
  EXPECT_EQ(visited(StepOrderKind::stride, 3, 10), (Steps{0, 1, 2})) << "a stride beyond the end";
}

}  // namespace ullage::revolve_test
