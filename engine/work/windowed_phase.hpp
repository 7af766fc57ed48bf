// SPDX-License-Identifier: Apache-2.0
// A phase of work on cores and memory: every thread of the rank does the same number of passes, window by window.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <mutex>

#include "base/affinity.hpp"
#include "base/clock.hpp"
#include "base/clock_rate.hpp"
#include "base/descriptor.hpp"
#include "base/parameters.hpp"
#include "base/pinned.hpp"
#include "base/procfs.hpp"
#include "base/std.hpp"
#include "base/thread_team.hpp"
#include "mpi/comm.hpp"
#include "work/entry.hpp"
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

  [[nodiscard]] static Table<WindowParameters> table() {
    using P = WindowParameters;
    return joined<P>(
        Table<P>{count("threads", &P::threads, {1, 4096}, "Run this many threads on each rank, each on its own core.")},
        timing());
  }

  /// All but `threads`, for work whose threads are not the user's choice.
  [[nodiscard]] static Table<WindowParameters> timing() {
    using P = WindowParameters;
    return {
        count("windows", &P::windows, {1, 100'000}, "Time this many windows."),
        seconds("window_s", &P::window_s, {1e-4, 60},
                "Let each window last this many seconds. A single pass may take longer."),
        seconds("warm_up_s", &P::warm_up_s, {0, 60},
                "Run the same work for this many seconds before the first window, since wide instructions lower the "
                "clock rate."),
    };
  }
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
class WindowedKernel : public Interface {
 public:
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
  /// Says what it ran on, where that is not the cores; see PhaseWork::hints_granted.
  [[nodiscard]] virtual Map facts() const { return {}; }
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

  void add(const ClockRate& rate, bool counts) {
    const bool agrees = rate.disagreement() <= most_disagreement;
    before_hz_ = after_hz_;
    // What an interrupt has spoilt is told by the reading at the window's other end.
    if (agrees || after_hz_ <= 0) after_hz_ = rate.add_hz;
    if (!counts) return;
    Sum& sum = agrees ? agreeing_ : others_;
    sum.hz += rate.add_hz;
    sum.disagreement += rate.disagreement();
    sum.count += 1;
  }

  [[nodiscard]] const Sum& used() const { return agreeing_.count > 0 ? agreeing_ : others_; }
  /// Mean of the last two.
  [[nodiscard]] double around_hz() const { return (before_hz_ + after_hz_) / 2; }

 private:
  Sum agreeing_;
  Sum others_;
  double before_hz_ = 0;
  double after_hz_ = 0;
};

/// Holds for how long one thread was ready and had no CPU, up to either end of its last window.
class WaitReadings final {
 public:
  /// From the thread itself, around each window. The kernel opens a thread's own file only for that thread.
  void read() {
    if (!file_) file_ = Descriptor(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
    std::array<char, 96> text{};
    const ssize_t size = ::pread(file_.get(), text.data(), text.size(), 0);
    before_ns_ = after_ns_;
    after_ns_ = size > 0 ? parse_run_delay_ns({text.data(), static_cast<std::size_t>(size)}) : std::nullopt;
  }

  /// In the last window; nothing where the kernel does not count it.
  [[nodiscard]] std::optional<std::int64_t> waited_ns() const {
    if (!before_ns_ || !after_ns_) return std::nullopt;
    return static_cast<std::int64_t>(*after_ns_ - *before_ns_);
  }

 private:
  Descriptor file_;
  std::optional<std::uint64_t> before_ns_;
  std::optional<std::uint64_t> after_ns_;
};

/// Calibrates the passes of a window, warms up, then times `windows` of them; one window is one operation of the meter.
/// Gauges besides the kernel's: kernel_s, shortest_window_s, cycles, clock_hz (mean under this work),
/// clock_disagreement (of its two chains, mean of the readings used, of the worst thread), threads, unpinned_threads,
/// and waited_s: for how long the thread that waited longest in each window had no CPU; -1: the kernel does not count
/// it.
class WindowedPhase final : public PhaseWork {
 public:
  WindowedPhase(std::string name, const WindowParameters& parameters, const WorkloadContext& context,
                WindowedKernel& kernel)
      : name_(std::move(name)),
        parameters_(parameters),
        kernel_(kernel),
        team_(cpus_of_rank(context.world->topology(), parameters.threads, parameters.cpus)),
        readings_(team_.size()),
        waits_(team_.size()) {
    totals_.threads = team_.size();
    totals_.shortest_ns = std::numeric_limits<std::int64_t>::max();
  }

  [[nodiscard]] PhaseInfo info() const override { return {.name = name_}; }

  [[nodiscard]] Status before() override {
    if (Status started = team_.start(); !started) return started;
    std::vector<Status> ready(team_.size());
    (void)team_.run({[&](std::size_t thread) { ready[thread] = kernel_.make_ready(thread); }, {}});
    for (const Status& status : ready)
      if (!status) return status;
    if (!team_.status()) return team_.status();
    passes_ = repetitions_that_last(parameters_.window_s, [this](std::uint64_t passes) { return window(passes); });
    warm_up();
    timed_ = true;
    kernel_.timing_begins();
    return team_.status();
  }

  [[nodiscard]] std::uint64_t operations() const override { return static_cast<std::uint64_t>(parameters_.windows); }

  [[nodiscard]] Status execute(Meter& meter) override {
    const std::uint64_t bytes = passes_ * kernel_.bytes_a_pass();
    for (std::uint64_t i = 0; i < prepared_; ++i) {
      const std::int64_t took_ns = window(passes_);
      totals_.passes += passes_;
      totals_.elapsed_ns += took_ns;
      totals_.shortest_ns = std::min(totals_.shortest_ns, took_ns);
      ++totals_.windows;
      if (!meter.completed(bytes)) break;
    }
    return team_.status();
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter&) override { return Verification::of(kernel_.check()); }

  [[nodiscard]] Gauges gauges() const override {
    Gauges gauges{{"kernel_s", totals_.elapsed_s()},
                  {"shortest_window_s", totals_.windows > 0 ? static_cast<double>(totals_.shortest_ns) * 1e-9 : 0},
                  {"cycles", totals_.cycles},
                  {"threads", static_cast<double>(team_.size())},
                  {"unpinned_threads", static_cast<double>(team_.unpinned())}};
    double sum_hz = 0;
    double count = 0;
    double disagreement = 0;
    for (const ClockReadings& readings : readings_) {
      const ClockReadings::Sum& used = readings.used();
      sum_hz += used.hz;
      count += used.count;
      if (used.count > 0) disagreement = std::max(disagreement, used.disagreement / used.count);
    }
    gauges["clock_hz"] = count > 0 ? sum_hz / count : 0;
    gauges["clock_disagreement"] = disagreement;
    gauges["waited_s"] = waited_ns_ ? static_cast<double>(*waited_ns_) * 1e-9 : -1;
    kernel_.report(totals_, gauges);
    return gauges;
  }

  [[nodiscard]] Map hints_granted() const override { return kernel_.facts(); }

 private:
  void read_clock(std::size_t thread) {
    waits_[thread].read();
    readings_[thread].add(read_clock_rate(), timed_);
  }

  [[nodiscard]] std::int64_t window(std::uint64_t passes) {
    const auto spans = team_.run(
        {[&](std::size_t thread) { kernel_.run(thread, passes); }, [&](std::size_t thread) { read_clock(thread); }});
    std::int64_t start = std::numeric_limits<std::int64_t>::max();
    std::int64_t stop = 0;
    for (std::size_t thread = 0; thread < spans.size(); ++thread) {
      const auto& [begun, ended] = spans[thread];
      start = std::min(start, begun);
      stop = std::max(stop, ended);
      const double hz = readings_[thread].around_hz();
      if (!timed_) continue;
      totals_.thread_ns += ended - begun;
      totals_.cycles += hz * static_cast<double>(ended - begun) * 1e-9;
    }
    if (timed_) add_wait(stop - start);
    return stop - start;
  }

  /// A window ends with its last thread, so the longest wait of any is what it lost.
  void add_wait(std::int64_t took_ns) {
    std::optional<std::int64_t> longest_ns;
    for (const WaitReadings& readings : waits_) longest_ns = std::max(longest_ns, readings.waited_ns());
    if (longest_ns) waited_ns_ = waited_ns_.value_or(0) + std::min(*longest_ns, took_ns);
  }

  void warm_up() {
    const std::int64_t until = now_ns() + static_cast<std::int64_t>(parameters_.warm_up_s * 1e9);
    while (now_ns() < until) (void)window(passes_);
  }

  std::string name_;
  WindowParameters parameters_;
  WindowedKernel& kernel_;
  ThreadTeam team_;
  std::uint64_t passes_ = 1;
  WindowTotals totals_;
  std::vector<ClockReadings> readings_;
  std::vector<WaitReadings> waits_;
  std::optional<std::int64_t> waited_ns_;  // in all windows
  bool timed_ = false;
};

/// A workload of one such phase, which keeps its kernel.
[[nodiscard]] inline std::unique_ptr<Workload> windowed_workload(std::string phase, const WindowParameters& parameters,
                                                                 const WorkloadContext& context,
                                                                 std::shared_ptr<WindowedKernel> kernel) {
  return std::make_unique<SinglePhaseWorkload>(
      [phase = std::move(phase), parameters, context, kernel = std::move(kernel)] {
        return std::make_unique<WindowedPhase>(phase, parameters, context, *kernel);
      });
}

}  // namespace ullage
