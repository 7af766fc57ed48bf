// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/loop.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "base/parameters.hpp"
#include "base/signals.hpp"
#include "mpi/agreement.hpp"

namespace ullage {
namespace {

bool is_to_stop() { return StopFlags::instance().now().load(std::memory_order_relaxed); }

std::int64_t ns_of(double seconds) {
  constexpr double most = 9e18;
  return seconds * 1e9 < most ? std::llround(seconds * 1e9) : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::string word_of(BEffIoEnd end) {
  static const Words<BEffIoEnd> words{{BEffIoEnd::none, "none"},           {BEffIoEnd::once, "once"},
                                      {BEffIoEnd::scheduled, "scheduled"}, {BEffIoEnd::space, "space"},
                                      {BEffIoEnd::count, "count"},         {BEffIoEnd::overtime, "overtime"},
                                      {BEffIoEnd::stopped, "stopped"}};
  return detail::word_of(words, end);
}

Gauges BEffIoTimes::gauges() const {
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  return {{"pattern_s", seconds(accounted())}, {"calls_s", seconds(calls)},
          {"barrier_s", seconds(barrier)},     {"agree_s", seconds(agree)},
          {"sync_s", seconds(sync)},           {"open_s", seconds(open)},
          {"view_s", seconds(view)},           {"close_s", seconds(close)},
          {"last_call_s", seconds(last_call)}, {"last_barrier_s", seconds(last_barrier)},
          {"payload_s", seconds(payload)}};
}

BEffIoLoop::BEffIoLoop(const BEffIoLoopWork& work, Meter& meter, BEffIoTimes& times)
    : work_(work),
      meter_(meter),
      times_(times),
      decides_(work.everyone->rank() == 0),
      accounted_until_(meter.clock_ns()) {}

void BEffIoLoop::run(const BEffIoUntil& until) {
  for (std::uint64_t repetitions = 1; end_ == BEffIoEnd::none; ++repetitions) {
    call();
    meet();
    const auto decided = decides_ ? decide(until, repetitions) : BEffIoEnd::none;
    end_ = static_cast<BEffIoEnd>(work_.everyone->broadcast(static_cast<std::int64_t>(decided), 0));
    const std::int64_t now = meter_.clock_ns();
    times_.agree += now - accounted_until_;
    accounted_until_ = now;
  }
}

void BEffIoLoop::run(std::uint64_t count, double allowance_s) {
  const BEffIoCheckTimes looks(allowance_s);
  const std::int64_t allowance_ns = ns_of(allowance_s);
  meter_.obey_stop(!together());
  std::uint64_t look_at = together() ? BEffIoCheckTimes::first() : count;
  for (std::uint64_t repetitions = 1; end_ == BEffIoEnd::none; ++repetitions) {
    call();
    if (repetitions == count)
      end_ = BEffIoEnd::count;
    else if (repetitions == look_at)
      look_at = look(looks, repetitions);
    if (work_.verify) check();
    if (!together() && end_ == BEffIoEnd::none) end_alone(allowance_ns);
  }
  times_.payload += meter_.clock_ns() - accounted_until_;
  mpi::sleeping_barrier(*work_.everyone);
  accounted_until_ = meter_.clock_ns();
}

/// Is done also by a rank in error: its file takes part with nothing, so that no other rank waits for it.
void BEffIoLoop::call() {
  const auto data =
      work_.direction == Direction::write ? work_.buffers->next_to_write() : work_.buffers->next_to_read();
  const std::int64_t begun = meter_.clock_ns();
  times_.payload += begun - accounted_until_;
  if (status_ || together()) {
    Status moved = work_.file->move(work_.direction, work_.pointer, data);
    if (status_ && !moved) status_ = std::move(moved);
  }
  if (status_) {
    (void)meter_.completed_since(begun, data.size());
    accounted_until_ = meter_.last_ns();
    ++done_;
  } else {
    meter_.report_alive();
    accounted_until_ = meter_.clock_ns();
  }
  times_.last_call = accounted_until_ - begun;
  times_.calls += times_.last_call;
}

void BEffIoLoop::meet() {
  work_.everyone->barrier();
  const std::int64_t now = meter_.clock_ns();
  times_.last_barrier = now - accounted_until_;
  times_.barrier += times_.last_barrier;
  accounted_until_ = now;
}

BEffIoEnd BEffIoLoop::decide(const BEffIoUntil& until, std::uint64_t repetitions) const {
  if (!status_ || is_to_stop()) return BEffIoEnd::stopped;
  if (!b_eff_io_goes_on(until.rule, elapsed_s(), repetitions, until.scheduled_s)) return BEffIoEnd::scheduled;
  return repetitions >= until.most ? BEffIoEnd::space : BEffIoEnd::none;
}

/// The repetition after which the next look is; an end is known to all ranks as a number that no repetition has.
std::uint64_t BEffIoLoop::look(const BEffIoCheckTimes& looks, std::uint64_t repetitions) {
  std::int64_t next = 0;
  if (decides_ && is_to_stop())
    next = -static_cast<std::int64_t>(BEffIoEnd::stopped);
  else if (decides_)
    next = looks.is_over(elapsed_s()) ? -static_cast<std::int64_t>(BEffIoEnd::overtime)
                                      : static_cast<std::int64_t>(looks.next(repetitions, elapsed_s()));
  next = work_.everyone->broadcast(next, 0);
  const std::int64_t now = meter_.clock_ns();
  times_.agree += now - accounted_until_;
  accounted_until_ = now;
  if (next < 0) end_ = static_cast<BEffIoEnd>(-next);
  return static_cast<std::uint64_t>(next);
}

void BEffIoLoop::end_alone(std::int64_t allowance_ns) {
  if (!status_ || !meter_.goes_on())
    end_ = BEffIoEnd::stopped;
  else if (times_.accounted() >= allowance_ns)
    end_ = BEffIoEnd::overtime;
}

void BEffIoLoop::check() {
  if (!status_) return;
  const Payload::Check checked = work_.buffers->check();
  found_.verified_bytes += work_.buffers->call_bytes();
  found_.bad_blocks += checked.bad_blocks;
  if (!checked.first || found_.first) return;
  found_.first = checked.first;
  found_.first_call = work_.buffers->call();
}

}  // namespace ullage
