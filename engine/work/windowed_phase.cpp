// SPDX-License-Identifier: Apache-2.0
#include "work/windowed_phase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "base/clock_rate.hpp"

namespace ullage {
namespace {

/// A window this long is long enough to extrapolate from.
constexpr double share_to_trust = 0.25;
constexpr double most_growth = 16;
constexpr int most_attempts = 3;

std::vector<int> cpus_of(const WorkloadContext& context, const WindowParameters& parameters) {
  const auto count = static_cast<std::size_t>(parameters.threads);
  const auto place = static_cast<std::size_t>(context.world->topology().rank_on_node);
  return choose_cpus(parameters.cpus.empty() ? allowed_cpus() : parameters.cpus, place * count, count);
}

}  // namespace

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
      team_(cpus_of(context, parameters)),
      readings_(team_.size()) {
  totals_.threads = team_.size();
  totals_.shortest_ns = std::numeric_limits<std::int64_t>::max();
}

PhaseInfo WindowedPhase::info() const {
  PhaseInfo info;
  info.name = name_;
  return info;
}

Status WindowedPhase::before() {
  std::vector<Status> ready(team_.size());
  (void)team_.run({[&](std::size_t thread) { ready[thread] = kernel_.make_ready(thread); }, {}});
  for (const Status& status : ready)
    if (!status) return status;
  calibrate();
  warm_up();
  timed_ = true;
  kernel_.timing_begins();
  return {};
}

std::uint64_t WindowedPhase::operations() const { return static_cast<std::uint64_t>(parameters_.windows); }

std::uint64_t WindowedPhase::prepare(std::uint64_t, std::uint64_t most) {
  prepared_ = most;
  return prepared_;
}

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
  return {};
}

Verification WindowedPhase::after(std::uint64_t, Meter&) {
  Verification found;
  if (const Status right = kernel_.check(); !right) {
    found.bad_blocks = 1;
    found.first = right.error();
  }
  return found;
}

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

/// Of as many windows as needed for one below `long_ns`, at most a few: one that was interrupted looks long, too.
double WindowedPhase::shortest_window_ns(double long_ns) {
  double shortest_ns = std::numeric_limits<double>::max();
  for (int attempt = 0; attempt < most_attempts && shortest_ns >= long_ns; ++attempt)
    shortest_ns = std::min(shortest_ns, static_cast<double>(window(passes_)));
  return shortest_ns;
}

/// Grows the number of passes until a window is long enough to tell how many make a whole one.
void WindowedPhase::calibrate() {
  const double wanted_ns = parameters_.window_s * 1e9;
  for (;;) {
    const double took_ns = std::max(1.0, shortest_window_ns(share_to_trust * wanted_ns));
    const double growth = wanted_ns / took_ns;
    const bool is_long = took_ns >= share_to_trust * wanted_ns;
    const double passes = static_cast<double>(passes_) * (is_long ? growth : std::min(growth, most_growth));
    passes_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(passes)));
    if (is_long) return;
  }
}

void WindowedPhase::warm_up() {
  const std::int64_t until = now_ns() + static_cast<std::int64_t>(parameters_.warm_up_s * 1e9);
  while (now_ns() < until) (void)window(passes_);
}

}  // namespace ullage
