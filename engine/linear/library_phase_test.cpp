// SPDX-License-Identifier: Apache-2.0
#include "linear/library_phase.hpp"

#include <gtest/gtest.h>

#include "run/workload_test_support.hpp"

namespace ullage::library_phase_test {

CallParameters calls(int count) {
  CallParameters asked;
  asked.calls = count;
  asked.threads = 3;
  asked.core = "Haswell";
  return asked;
}

/// Solves nothing, and says of each system what the test wants.
class Told final : public SystemsPhase {
 public:
  std::vector<double> residuals{1};  // of each call
  int refuses = 0;                   // what the library says of the second system
  std::vector<std::uint64_t> seeds;  // of the systems that were made

  explicit Told(int count) : SystemsPhase(calls(count), 30, 5) {}
  [[nodiscard]] PhaseInfo info() const override { return {.name = "told"}; }
  [[nodiscard]] Gauges gauges() const override { return with_residual(gauges_of(operations_a_call(), 2)); }

 private:
  [[nodiscard]] Status make_system(std::uint64_t seed) override {
    seeds.push_back(seed);
    return {};
  }
  [[nodiscard]] int solve() override {
    solution_ = {static_cast<double>(seeds.size() - 1)};
    return seeds.size() == 2 ? refuses : 0;
  }
  [[nodiscard]] std::string said(int not_solved) const override { return "ended with " + std::to_string(not_solved); }
  [[nodiscard]] const std::vector<double>& solution() const override { return solution_; }
  [[nodiscard]] double residual_of(std::uint64_t, const std::vector<double>& solution) const override {
    return residuals.at(static_cast<std::size_t>(solution.front()));
  }
  std::vector<double> solution_;
};

class MpiSystemsPhase : public test::MpiLaunch {};

TEST_F(MpiSystemsPhase, EachCallSolvesAnotherSystemAndIsCounted) {
  Told phase(3);
  phase.residuals = {0.5, 2, 1};
  ASSERT_EQ(run_phase(phase).status, PhaseStatus::ok);
  ASSERT_EQ(phase.seeds.size(), 3U);
  EXPECT_EQ(phase.seeds[2], phase.seeds[0] + 2);
  if (!world_.root()) return;
  EXPECT_EQ(record_["operations"], 3 * world_.size());
  EXPECT_NEAR(gauge("operations"), 3 * (2.0 / 3 * 27'000 + 1.5 * 900), 1e-6);
  EXPECT_EQ(gauge("residual"), 2) << "the largest of all calls";
  EXPECT_EQ(gauge("threads"), 3);
  EXPECT_EQ(gauge("library_threads"), 2);
  EXPECT_EQ(record_["hints_given"], Json({{"core", "Haswell"}}));
}

TEST_F(MpiSystemsPhase, AWrongSolutionFailsIt) {
  Told phase(2);
  phase.residuals = {1, 16};
  EXPECT_EQ(run_phase(phase).status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_EQ(record_["bad_blocks"], world_.size());
  EXPECT_NE(record_["failures"][0]["text"].get<std::string>().find("below 16"), std::string::npos);
}

TEST_F(MpiSystemsPhase, ASystemThatIsNotSolvedFailsIt) {
  Told phase(3);
  phase.refuses = 4;
  EXPECT_EQ(run_phase(phase).status, PhaseStatus::failed);
  EXPECT_EQ(phase.seeds.size(), 2U) << "none is made after it";
  if (!world_.root()) return;
  EXPECT_EQ(record_["failures"][0]["text"], "ended with 4");
}

void spin(std::int64_t ns) {
  const std::int64_t until = now_ns() + ns;
  while (now_ns() < until) {
  }
}

TEST(TimedCalls, AddUpTheCallsAndKnowTheShortest) {
  TimedCalls calls;
  int made = 0;
  for (const std::int64_t ns : {3'000'000, 1'000'000, 2'000'000}) calls.time([&] { spin(ns), ++made; });
  Gauges gauges;
  calls.report(2, gauges);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(calls.count(), 3U);
  EXPECT_GE(gauges["kernel_s"], 0.006);
  EXPECT_GE(gauges["shortest_window_s"], 0.001);
  EXPECT_LT(gauges["shortest_window_s"], gauges["kernel_s"] - 0.002);
  if (gauges["clock_hz"] == 0) GTEST_SKIP() << "the clock of this processor cannot be measured";
  EXPECT_GT(gauges["cycles"] / gauges["kernel_s"], gauges["clock_hz"]);  // of two threads
}

TEST(TimedCalls, NoneAreZero) {
  Gauges gauges;
  TimedCalls().report(1, gauges);
  for (const auto& [name, value] : gauges) EXPECT_EQ(value, 0) << name;
}

TEST(TimedCalls, OnlyWhatWasAskedForIsGiven) {
  CallParameters parameters;
  EXPECT_TRUE(given(parameters).empty());
  parameters.core = "Haswell";
  EXPECT_EQ(given(parameters), (Map{{"core", "Haswell"}}));
  parameters.library = "/a";
  EXPECT_EQ(given(parameters), (Map{{"core", "Haswell"}, {"library", "/a"}}));
}

}  // namespace ullage::library_phase_test
