// SPDX-License-Identifier: Apache-2.0
#include "core/windowed_phase.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "core/clock.hpp"
#include "core/json.hpp"
#include "core/phase_runner.hpp"
#include "core/signals.hpp"

namespace ullage::windowed_phase_test {
namespace {

/// A pass lasts about 10 us.
class Spinner final : public WindowedKernel {
 public:
  bool is_wrong = false;
  bool cannot_begin = false;
  std::array<std::atomic<std::uint64_t>, 2> passes_of{};
  std::atomic<int> made_ready = 0;

  [[nodiscard]] Status make_ready(std::size_t thread) override {
    ++made_ready;
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
  void report(const WindowTotals& totals, Gauges& gauges) const override { gauges["passes"] = totals.all_passes(); }
};

class MpiWindowedPhase : public ::testing::Test {
 protected:
  MpiWindowedPhase() : meter_(StopFlags::instance().now()), watchdog_({}) {
    StopFlags::instance().reset();
    context_.world = &world_;
    parameters_.threads = 2;
    parameters_.windows = 4;
    parameters_.window_s = 0.002;
    parameters_.warm_up_s = 0;
  }
  PhaseOutcome run() {
    WindowedPhase phase("spin", parameters_, context_, kernel_);
    return run_phase({&world_, &clock_, &watchdog_, &meter_, {}, 0}, nullptr, phase, record_);
  }

  mpi::World world_;
  mpi::ClockSync clock_;
  Meter meter_;
  Watchdog watchdog_;
  WorkloadContext context_;
  WindowParameters parameters_;
  Spinner kernel_;
  Json record_;
};

TEST_F(MpiWindowedPhase, WindowsAreAsLongAsAskedAndAddUp) {
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_EQ(kernel_.made_ready, 2);
  EXPECT_EQ(kernel_.passes_of[0], kernel_.passes_of[1]);
  if (!world_.root()) return;
  const auto ranks = static_cast<double>(world_.size());
  const Json& gauges = record_["gauges"];
  EXPECT_EQ(record_["operations"], 4 * world_.size());
  EXPECT_EQ(gauges["threads"]["sum"], 2 * ranks);
  EXPECT_GE(gauges["kernel_s"]["least"].get<double>(), 0.25 * 4 * parameters_.window_s);
  EXPECT_LE(gauges["shortest_window_s"]["most"].get<double>() * 4, gauges["kernel_s"]["most"].get<double>() + 1e-9);
  EXPECT_DOUBLE_EQ(record_["bytes"].get<double>(), gauges["passes"]["sum"].get<double>() / 2 * 64);
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

}  // namespace
}  // namespace ullage::windowed_phase_test
