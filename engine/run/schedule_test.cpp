// SPDX-License-Identifier: Apache-2.0
#include "run/schedule.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ullage::schedule_test {

class StopAfter final : public StopRule {
 public:
  explicit StopAfter(std::size_t count) : count_(count) {}
  [[nodiscard]] StopDecision judge(const Samples& samples) const override {
    return {repetitions(samples) >= count_, "count", std::nullopt};
  }

 private:
  std::size_t count_;
};

Plan plan_of(std::size_t cases) {
  Plan plan;
  plan.cases.resize(cases);
  for (std::size_t i = 0; i < cases; ++i) plan.cases[i].id = std::to_string(i);
  return plan;
}

RepetitionOutcome took(std::int64_t ns, char grade = 'A') {
  RepetitionOutcome outcome;
  outcome.elapsed_ns = ns;
  outcome.grade = grade;
  outcome.phases = {{"write", {ns}}};
  return outcome;
}

std::vector<std::size_t> run_all(const Plan& plan, const StopRule& rule, std::int64_t cost_ns) {
  Schedule schedule(plan, rule);
  std::vector<std::size_t> order;
  std::int64_t now = 0;
  while (const auto next = schedule.next(now)) {
    order.push_back(next->index);
    now += cost_ns;
    (void)schedule.finished(*next, took(cost_ns), now);
  }
  return order;
}

TEST(Schedule, RoundsInterleaveTheCases) {
  const Plan plan = plan_of(5);
  const auto order = run_all(plan, StopAfter(3), 10);
  ASSERT_EQ(order.size(), 15U);
  for (std::size_t round = 0; round < 3; ++round)
    EXPECT_EQ(std::set<std::size_t>(order.begin() + static_cast<long>(round * 5),
                                    order.begin() + static_cast<long>(round * 5 + 5))
                  .size(),
              5U);
}

TEST(Schedule, OrderDependsOnTheSeedAndTheRound) {
  Plan plan = plan_of(8);
  const auto first = run_all(plan, StopAfter(2), 10);
  EXPECT_EQ(first, run_all(plan, StopAfter(2), 10)) << "a seed gives the same order again";
  EXPECT_NE(std::vector(first.begin(), first.begin() + 8), std::vector(first.begin() + 8, first.end()));
  plan.seed = 2;
  EXPECT_NE(first, run_all(plan, StopAfter(2), 10));
}

TEST(Schedule, BudgetBeginsNothingThatIsNotExpectedToFit) {
  Plan plan = plan_of(2);
  plan.time_budget_s = 50e-9;
  const StopAfter rule(100);
  Schedule schedule(plan, rule);
  std::int64_t now = 0;
  Verdict last;
  while (const auto next = schedule.next(now)) {
    now += 10;
    last = schedule.finished(*next, took(10), now);
  }
  EXPECT_EQ(now, 50);
  EXPECT_EQ(last.stop, "budget");
  EXPECT_EQ(schedule.cut_by_budget().size(), 2U);
}

TEST(Schedule, DisturbedRepetitionsCountLikeAllOthers) {
  const Plan plan = plan_of(1);
  const StopAfter rule(2);
  Schedule schedule(plan, rule);
  int repetitions_done = 0;
  while (const auto next = schedule.next(0)) {
    ++repetitions_done;
    (void)schedule.finished(*next, took(1, 'C'), 0);
  }
  EXPECT_EQ(repetitions_done, 2);
}

TEST(Schedule, WarmupsAreFlaggedAndNotCounted) {
  Plan plan = plan_of(1);
  plan.warmups = 2;
  const StopAfter rule(1);
  Schedule schedule(plan, rule);
  std::vector<bool> warmups;
  while (const auto next = schedule.next(0)) {
    warmups.push_back(next->warmup);
    (void)schedule.finished(*next, took(1), 0);
  }
  EXPECT_EQ(warmups, (std::vector<bool>{true, true, false}));
}

TEST(Schedule, FailedCaseIsNotRepeatedAndTheOthersGoOn) {
  const Plan plan = plan_of(3);
  const StopAfter rule(2);
  Schedule schedule(plan, rule);
  std::map<std::size_t, int> begun;
  while (const auto next = schedule.next(0)) {
    ++begun[next->index];
    RepetitionOutcome outcome = took(1);
    outcome.ok = next->index != 1;
    const Verdict verdict = schedule.finished(*next, outcome, 0);
    if (!outcome.ok) {
      EXPECT_EQ(verdict.stop, "failed");
    }
  }
  EXPECT_EQ(begun, (std::map<std::size_t, int>{{0, 2}, {1, 1}, {2, 2}}));
}

TEST(Schedule, NumbersGoOnWhereEarlierLaunchesEnded) {
  Plan plan = plan_of(2);
  plan.cases[1].first_repetition = 5;
  const StopAfter rule(2);
  Schedule schedule(plan, rule);
  std::map<std::size_t, std::vector<int>> numbers;
  for (std::int64_t now = 1; const auto next = schedule.next(now); ++now) {
    numbers[next->index].push_back(next->repetition);
    (void)schedule.finished(*next, took(1), now);
  }
  EXPECT_EQ(numbers[0], (std::vector<int>{0, 1}));
  EXPECT_EQ(numbers[1], (std::vector<int>{5, 6}));
}

TEST(Schedule, PriorSamplesCount) {
  Plan plan = plan_of(2);
  plan.cases[0].prior_elapsed_ns = {{"write", {5, 5}}};
  plan.cases[1].prior_elapsed_ns = {{"write", {5}}};
  const auto order = run_all(plan, StopAfter(2), 10);
  EXPECT_EQ(order, std::vector<std::size_t>{1});
}

TEST(Schedule, ListedCasesKeepTheirOrderInEveryRound) {
  Plan plan = plan_of(5);
  plan.order = CaseOrder::listed;
  EXPECT_EQ(run_all(plan, StopAfter(2), 1), (std::vector<std::size_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
}

}  // namespace ullage::schedule_test
