// SPDX-License-Identifier: Apache-2.0
#include "work/windowed_phase.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "work/entry.hpp"

namespace ullage {

Table<WindowParameters> WindowParameters::table() {
  using P = WindowParameters;
  return joined<P>(
      Table<P>{count("threads", &P::threads, {1, 4096}, "Run this many threads on each rank, each on its own core.")},
      timing());
}

Table<WindowParameters> WindowParameters::timing() {
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

void ClockReadings::add(const ClockRate& rate, bool counts) {
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

WindowedPhase::WindowedPhase(std::string name, const WindowParameters& parameters, const WorkloadContext& context,
                             WindowedKernel& kernel)
    : name_(std::move(name)),
      parameters_(parameters),
      kernel_(kernel),
      team_(cpus_of_rank(context.world->topology(), parameters.threads, parameters.cpus)),
      readings_(team_.size()) {
  totals_.threads = team_.size();
  totals_.shortest_ns = std::numeric_limits<std::int64_t>::max();
}

PhaseInfo WindowedPhase::info() const { return {.name = name_}; }

Status WindowedPhase::before() {
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

std::uint64_t WindowedPhase::operations() const { return static_cast<std::uint64_t>(parameters_.windows); }

Status WindowedPhase::execute(Meter& meter) {
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

Verification WindowedPhase::after(std::uint64_t, Meter&) { return Verification::of(kernel_.check()); }

Gauges WindowedPhase::gauges() const {
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
  kernel_.report(totals_, gauges);
  return gauges;
}

void WindowedPhase::read_clock(std::size_t thread) { readings_[thread].add(read_clock_rate(), timed_); }

std::int64_t WindowedPhase::window(std::uint64_t passes) {
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
  return stop - start;
}

void WindowedPhase::warm_up() {
  const std::int64_t until = now_ns() + static_cast<std::int64_t>(parameters_.warm_up_s * 1e9);
  while (now_ns() < until) (void)window(passes_);
}

std::unique_ptr<Workload> windowed_workload(std::string phase, const WindowParameters& parameters,
                                            const WorkloadContext& context, std::shared_ptr<WindowedKernel> kernel) {
  return std::make_unique<SinglePhaseWorkload>(
      [phase = std::move(phase), parameters, context, kernel = std::move(kernel)] {
        return std::make_unique<WindowedPhase>(phase, parameters, context, *kernel);
      });
}

}  // namespace ullage
