// SPDX-License-Identifier: Apache-2.0
#include "work/windowed_phase.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "base/test_support.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::windowed_phase_test {

/// A pass lasts about 10 us.
class Spinner final : public WindowedKernel {
 public:
  bool is_wrong = false;
  bool cannot_begin = false;
  bool has_no_memory = false;
  std::array<std::atomic<std::uint64_t>, 2> passes_of{};
  std::atomic<int> made_ready = 0;
  std::uint64_t untimed_passes = 0;
  std::atomic<int> seen_cpu = -1;

  [[nodiscard]] Status make_ready(std::size_t thread) override {
    ++made_ready;
    seen_cpu = sched_getcpu();
    if (has_no_memory) throw std::bad_alloc();
    if (cannot_begin && thread == 1) return fail(environment_error("memory", "no room"));
    return {};
  }
  void run(std::size_t thread, std::uint64_t passes) override {
    passes_of.at(thread) += passes;
    const std::int64_t until = now_ns() + static_cast<std::int64_t>(passes) * 10'000;
    while (now_ns() < until) {
    }
  }
  [[nodiscard]] Status check() override {
    return is_wrong ? Status(fail(environment_error("sum", "is 1, should be 2"))) : Status{};
  }
  [[nodiscard]] std::uint64_t bytes_a_pass() const override { return 64; }
  void timing_begins() override { untimed_passes = passes_of[0]; }
  void report(const WindowTotals& totals, Gauges& gauges) const override {
    gauges["passes"] = totals.all_passes();
    gauges["thread_s"] = static_cast<double>(totals.thread_ns) * 1e-9;
  }
};

class MpiWindowedPhase : public test::MpiLaunch {
 protected:
  MpiWindowedPhase() {
    parameters_.threads = 2;
    parameters_.windows = 4;
    parameters_.window_s = 0.002;
    parameters_.warm_up_s = 0;
  }
  PhaseOutcome run() {
    WindowedPhase phase("spin", parameters_, context_, kernel_);
    return run_phase(phase);
  }

  WindowParameters parameters_;
  Spinner kernel_;
};

TEST_F(MpiWindowedPhase, AThreadOfOneRankThatDoesNotStartFailsThePhaseForAll) {
  std::optional<test::FewThreads> few;
  if (world_.rank() == world_.size() - 1) few.emplace(1);
  EXPECT_EQ(run().status, PhaseStatus::failed);
  if (!world_.root()) return;
  ASSERT_EQ(record_["failures"].size(), 1U) << record_.dump(1);
  EXPECT_EQ(record_["failures"][0]["rank"], world_.size() - 1);
  EXPECT_EQ(record_["failures"][0]["errno"], EAGAIN);
}

TEST_F(MpiWindowedPhase, MemoryThatAThreadDoesNotGetFailsThePhase) {
  kernel_.has_no_memory = true;
  EXPECT_EQ(run().status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_EQ(record_["failures"][0]["errno"], ENOMEM) << record_.dump(1);
}

TEST_F(MpiWindowedPhase, WindowsAddUp) {
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_EQ(kernel_.made_ready, 2);
  EXPECT_EQ(kernel_.passes_of[0], kernel_.passes_of[1]);
  EXPECT_GT(kernel_.untimed_passes, 0U);
  if (!world_.root()) return;
  const auto ranks = static_cast<double>(world_.size());
  const Json& gauges = record_["gauges"];
  EXPECT_EQ(record_["operations"], 4 * world_.size());
  EXPECT_EQ(gauges["threads"]["sum"], 2 * ranks);
  EXPECT_GE(gauges["kernel_s"]["sum"].get<double>(), gauges["passes"]["sum"].get<double>() / 2 * 10e-6);
  EXPECT_LE(gauges["shortest_window_s"]["most"].get<double>() * 4, gauges["kernel_s"]["most"].get<double>() + 1e-9);
  EXPECT_DOUBLE_EQ(record_["bytes"].get<double>(), gauges["passes"]["sum"].get<double>() / 2 * 64);
  EXPECT_GE(gauges["thread_s"]["sum"].get<double>(), gauges["passes"]["sum"].get<double>() * 10e-6);
  EXPECT_LE(gauges["thread_s"]["most"].get<double>(), 2 * gauges["kernel_s"]["most"].get<double>());
}

/// Both threads have one CPU, and neither ends a window before both have had it for as long.
TEST_F(MpiWindowedPhase, WaitsAreThoseInTheWindows) {
  const std::vector<int> allowed = allowed_cpus();
  parameters_.cpus = {allowed.front(), allowed.front()};
  parameters_.window_s = 0.02;
  ASSERT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  const Json& gauges = record_["gauges"];
  if (gauges["waited_s"]["least"] == -1) GTEST_SKIP() << "the kernel does not count waits";
  EXPECT_GT(gauges["waited_s"]["least"].get<double>(), 0);
  EXPECT_LE(gauges["waited_s"]["most"].get<double>(), gauges["kernel_s"]["most"].get<double>());
}

TEST_F(MpiWindowedPhase, WindowsAreAsLongAsAsked) {
  double longest_s = 0;  // a thread that lost its core while the passes were calibrated makes windows shorter
  for (int attempt = 0; attempt < 5; ++attempt) {
    ASSERT_EQ(run().status, PhaseStatus::ok);
    if (world_.root()) longest_s = std::max(longest_s, record_["gauges"]["kernel_s"]["most"].get<double>());
  }
  if (!world_.root()) return;
  EXPECT_GE(longest_s, 0.25 * 4 * parameters_.window_s);
}

TEST_F(MpiWindowedPhase, TimedPassesAreThoseAfterTheWarmUp) {
  ASSERT_EQ(run().status, PhaseStatus::ok);
  const std::uint64_t timed = world_.all().sum(kernel_.passes_of[0] - kernel_.untimed_passes);
  if (!world_.root()) return;
  EXPECT_EQ(record_["gauges"]["passes"]["sum"].get<double>(), 2 * static_cast<double>(timed));
}

TEST_F(MpiWindowedPhase, ThreadsRunOnTheCpusAskedFor) {
  kernel_.seen_cpu = -1;
  parameters_.cpus = {allowed_cpus().back()};
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_EQ(kernel_.seen_cpu, allowed_cpus().back());
}

TEST(ClockReadings, OnesThatWereInterruptedAreLeftOutUnlessAllWere) {
  const ClockRate spoilt{1e9, 3e9};
  ClockReadings readings;
  readings.add(spoilt, true);
  EXPECT_EQ(readings.used().hz, 1e9);
  EXPECT_GT(readings.used().disagreement, most_disagreement);
  readings.add({3e9, 3.01e9}, true);
  readings.add(spoilt, true);
  readings.add({5e9, 5e9}, false);
  EXPECT_EQ(readings.used().hz, 3e9);
  EXPECT_EQ(readings.used().count, 1);
  EXPECT_LT(readings.used().disagreement, most_disagreement);
  EXPECT_EQ(readings.around_hz(), 4e9) << "the spoilt one counts as the one before it";
}

TEST_F(MpiWindowedPhase, WrongResultFailsThePhase) {
  kernel_.is_wrong = true;
  EXPECT_EQ(run().status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_GT(record_["bad_blocks"], 0);
}

TEST_F(MpiWindowedPhase, ThreadThatCannotBeginFailsThePhaseBeforeItsTimer) {
  kernel_.cannot_begin = true;
  EXPECT_EQ(run().status, PhaseStatus::failed);
  EXPECT_EQ(kernel_.passes_of[0], 0U);
}

}  // namespace ullage::windowed_phase_test
