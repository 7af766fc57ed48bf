// SPDX-License-Identifier: Apache-2.0
// A phase of work on cores and memory: every thread of the rank does the same number of passes, window by window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/affinity.hpp"
#include "base/clock_rate.hpp"
#include "base/parameters.hpp"
#include "base/thread_team.hpp"
#include "mpi/comm.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

/// A CPU for each thread of this rank, after those of the ranks before it on its node; of `cpus`, or where that is
/// empty of all that the process may run on.
[[nodiscard]] inline std::vector<int> cpus_of_rank(const mpi::Topology& topology, int threads,
                                                   std::span<const int> cpus = {}) {
  const auto count = static_cast<std::size_t>(threads);
  const auto place = static_cast<std::size_t>(topology.rank_on_node);
  return cpus.empty() ? choose_cpus(allowed_cpus(), place * count, count) : choose_cpus(cpus, place * count, count);
}

/// Holds what all such workloads are told.
struct WindowParameters {
  int threads = 1;
  int windows = 10;
  double window_s = 0.01;
  double warm_up_s = 0.1;
  std::vector<int> cpus;  // the threads' choice; empty: all that the process may run on

  [[nodiscard]] static Table<WindowParameters> table();
  /// All but `threads`, for work whose threads are not the user's choice.
  [[nodiscard]] static Table<WindowParameters> timing();
};

/// Adds up what the windows of one rank add up to.
struct WindowTotals {
  std::uint64_t passes = 0;      // of each thread
  std::int64_t elapsed_ns = 0;   // of the windows, each from the first thread's start to the last one's stop
  std::int64_t shortest_ns = 0;  // window
  std::int64_t thread_ns = 0;    // of all threads, each from its own start to its own stop
  std::uint64_t windows = 0;
  std::size_t threads = 0;
  double cycles = 0;  // of all threads, by the clock measured around each window; 0: not known
  [[nodiscard]] double elapsed_s() const { return static_cast<double>(elapsed_ns) * 1e-9; }
  /// Passes of all threads.
  [[nodiscard]] double all_passes() const { return static_cast<double>(passes) * static_cast<double>(threads); }
};

/// Does what the threads do. All calls with a thread's number come from that thread, pinned to its core.
class WindowedKernel {
 public:
  WindowedKernel() = default;
  WindowedKernel(const WindowedKernel&) = delete;
  WindowedKernel& operator=(const WindowedKernel&) = delete;
  virtual ~WindowedKernel() = default;

  /// Untimed, on all threads at once: allocate and be the first to touch what this thread will use.
  [[nodiscard]] virtual Status make_ready(std::size_t thread) {
    (void)thread;
    return {};
  }
  /// `passes` >= 1 times the kernel's smallest piece of work. Timed; must neither throw nor allocate.
  virtual void run(std::size_t thread, std::uint64_t passes) = 0;
  /// Untimed, once, after the warm-up: what is counted from here on is that of the windows.
  virtual void timing_begins() {}
  /// Untimed, after the last window: a wrong result is an error.
  [[nodiscard]] virtual Status check() { return {}; }
  /// Bytes of one pass of all threads, as an application counts them.
  [[nodiscard]] virtual std::uint64_t bytes_a_pass() const { return 0; }
  /// Adds what this kernel measured. Names end in their unit; see PhaseWork::gauges.
  virtual void report(const WindowTotals& totals, Gauges& gauges) const = 0;
};

/// Holds what one thread read of its clock around its windows. Readings whose two chains disagree were interrupted and
/// are left out, unless all are.
class ClockReadings final {
 public:
  struct Sum {
    double hz = 0;
    double disagreement = 0;
    double count = 0;
  };
  void add(const ClockRate& rate, bool counts);
  [[nodiscard]] const Sum& used() const { return agreeing_.count > 0 ? agreeing_ : others_; }
  /// Mean of the last two.
  [[nodiscard]] double around_hz() const { return (before_hz_ + after_hz_) / 2; }

 private:
  Sum agreeing_;
  Sum others_;
  double before_hz_ = 0;
  double after_hz_ = 0;
};

/// Calibrates the passes of a window, warms up, then times `windows` of them; one window is one operation of the meter.
/// Gauges besides the kernel's: kernel_s, shortest_window_s, cycles, clock_hz (mean under this work),
/// clock_disagreement (of its two chains, mean of the readings used, of the worst thread), threads, unpinned_threads.
class WindowedPhase final : public PhaseWork {
 public:
  WindowedPhase(std::string name, const WindowParameters& parameters, const WorkloadContext& context,
                WindowedKernel& kernel);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;

 private:
  void read_clock(std::size_t thread);
  [[nodiscard]] std::int64_t window(std::uint64_t passes);
  void warm_up();

  std::string name_;
  WindowParameters parameters_;
  WindowedKernel& kernel_;
  ThreadTeam team_;
  std::uint64_t passes_ = 1;
  WindowTotals totals_;
  std::vector<ClockReadings> readings_;
  bool timed_ = false;
};

/// A workload of one such phase, which keeps its kernel.
[[nodiscard]] std::unique_ptr<Workload> windowed_workload(std::string phase, const WindowParameters& parameters,
                                                          const WorkloadContext& context,
                                                          std::shared_ptr<WindowedKernel> kernel);

}  // namespace ullage
