// SPDX-License-Identifier: Apache-2.0
#include "core/windowed_phase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/clock.hpp"
#include "core/clock_rate.hpp"

namespace ullage {
namespace {

/// A window this long is long enough to extrapolate from.
constexpr double share_to_trust = 0.25;
constexpr double most_growth = 16;

std::vector<int> cpus_of(const WorkloadContext& context, int threads) {
  const auto count = static_cast<std::size_t>(threads);
  const auto place = static_cast<std::size_t>(context.world->topology().rank_on_node);
  return choose_cpus(allowed_cpus(), place * count, count);
}

}  // namespace

WindowedPhase::WindowedPhase(std::string name, const WindowParameters& parameters, const WorkloadContext& context,
                             WindowedKernel& kernel)
    : name_(std::move(name)),
      parameters_(parameters),
      kernel_(kernel),
      team_(cpus_of(context, parameters.threads)),
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
  for (const Reading& reading : readings_) {
    sum_hz += reading.sum_hz;
    count += static_cast<double>(reading.count);
    disagreement = std::max(disagreement, reading.disagreement);
  }
  gauges["clock_hz"] = count > 0 ? sum_hz / count : 0;
  gauges["clock_disagreement"] = disagreement;
  kernel_.report(totals_, gauges);
  return gauges;
}

void WindowedPhase::read_clock(std::size_t thread) {
  const ClockRate rate = read_clock_rate();
  Reading& reading = readings_[thread];
  reading.before_hz = reading.after_hz;
  reading.after_hz = rate.add_hz;
  if (!timed_) return;
  reading.sum_hz += rate.add_hz;
  reading.disagreement = std::max(reading.disagreement, rate.disagreement());
  ++reading.count;
}

std::int64_t WindowedPhase::window(std::uint64_t passes) {
  const auto spans = team_.run(
      {[&](std::size_t thread) { kernel_.run(thread, passes); }, [&](std::size_t thread) { read_clock(thread); }});
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t stop = 0;
  for (std::size_t thread = 0; thread < spans.size(); ++thread) {
    const auto& [begun, ended] = spans[thread];
    start = std::min(start, begun);
    stop = std::max(stop, ended);
    const double hz = (readings_[thread].before_hz + readings_[thread].after_hz) / 2;
    if (timed_) totals_.cycles += hz * static_cast<double>(ended - begun) * 1e-9;
  }
  return stop - start;
}

/// Grows the number of passes until a window is long enough to tell how many make a whole one.
void WindowedPhase::calibrate() {
  const double wanted_ns = parameters_.window_s * 1e9;
  for (;;) {
    const double took_ns = std::max(1.0, static_cast<double>(window(passes_)));
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
