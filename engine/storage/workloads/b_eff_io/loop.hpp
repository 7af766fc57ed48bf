// SPDX-License-Identifier: Apache-2.0
// The loop of one pattern on one rank: calls, what is timed around them, and what ends it.
#pragma once

#include <cmath>

#include "base/aligned_buffer.hpp"
#include "base/count.hpp"
#include "base/meter.hpp"
#include "base/parameters.hpp"
#include "base/payload.hpp"
#include "base/permutation.hpp"
#include "base/pinned.hpp"
#include "base/signals.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/viewed_file.hpp"
#include "storage/workloads/b_eff_io/patterns.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// What the calls of one pattern move: contents that can be recognised, in a few buffers that calls use in turn.

/// Says what one rank's calls carry. Generation 1 is the first write's, 2 a rewrite's.
struct BEffIoContents {
  std::uint64_t key = 0;  // of the dataset
  int pattern = 0;
  std::uint64_t call_bytes = 0;
  std::uint64_t writer = 0;
  std::uint64_t rewritten = 0;          // calls below this are of generation 2
  std::uint64_t rewritten_by_some = 0;  // those from there to here of either
};

inline constexpr std::uint64_t most_buffers = 16384;
inline constexpr std::size_t buffer_distance = 64;

inline PayloadSpec payload_of(const BEffIoContents& contents, int generation) {
  return {.run_key = mix64(mix64(contents.key ^ static_cast<std::uint64_t>(contents.pattern)) +
                           static_cast<std::uint64_t>(generation)),
          .transfer_bytes = contents.call_bytes};
}

/// Has as many buffers as make 256 KiB, at least one: they stay in a core's cache, as one's own data often is. They are
/// filled before the timer, and again before each call that is not the first to use one. Calls come one after the
/// other.
class BEffIoBuffers final : Pinned {
 public:
  /// Grows `memory`, which lives longer.
  BEffIoBuffers(AlignedBuffer& memory, const BEffIoContents& contents)
      : memory_(memory),
        contents_(contents),
        first_(payload_of(contents, 1)),
        second_(payload_of(contents, 2)),
        ring_(static_cast<std::size_t>(std::clamp<std::uint64_t>(
            cached_bytes / std::max<std::uint64_t>(contents.call_bytes, 1), 1, most_buffers))),
        slot_bytes_(round_up(static_cast<std::size_t>(contents.call_bytes), buffer_distance)),
        slot_(ring_ - 1) {
    if (memory_.size() < ring_ * slot_bytes_) memory_ = AlignedBuffer(ring_ * slot_bytes_);
  }

  /// Before the first call: contents of the generation to be written.
  void fill(int generation) {
    written_ = generation == 1 ? &first_ : &second_;
    for (std::size_t i = 0; i < ring_; ++i) written_->fill(slot(i), contents_.writer, i * contents_.call_bytes);
  }

  /// Before the first call: buffers that nothing was read into.
  void poison() {
    for (std::size_t i = 0; i < ring_; ++i) Payload::poison(slot(i));
  }

  /// The next call's buffer, to be written from.
  [[nodiscard]] std::span<std::byte> next_to_write() {
    advance();
    const auto buffer = current();
    if (lap_ > 0) written_->fill(buffer, contents_.writer, offset_bytes());
    return buffer;
  }

  /// The next call's buffer, to be read into, as it was left.
  [[nodiscard]] std::span<std::byte> next_to_read() {
    advance();
    return current();
  }

  /// Looks at what the last call read, and leaves its buffer as poison() does. Offsets count from the call's first
  /// byte.
  [[nodiscard]] Payload::Check check() {
    const std::uint64_t number = call();
    const auto buffer = current();
    Payload::Check found =
        (number < contents_.rewritten ? second_ : first_).check(buffer, contents_.writer, offset_bytes());
    const bool may_be_rewritten = number >= contents_.rewritten && number < contents_.rewritten_by_some;
    if (found.bad_blocks > 0 && may_be_rewritten)
      if (const auto again = second_.check(buffer, contents_.writer, offset_bytes()); again.bad_blocks == 0)
        found = again;
    Payload::poison(buffer);
    if (found.first) found.first->offset_bytes -= offset_bytes();
    return found;
  }

  /// Number of the last call.
  [[nodiscard]] std::uint64_t call() const { return lap_ * ring_ + slot_; }
  [[nodiscard]] std::size_t count() const { return ring_; }
  [[nodiscard]] std::uint64_t call_bytes() const { return contents_.call_bytes; }

 private:
  void advance() {
    if (++slot_ < ring_) return;
    slot_ = 0;
    ++lap_;
  }
  [[nodiscard]] std::span<std::byte> slot(std::size_t index) {
    return memory_.bytes().subspan(index * slot_bytes_, static_cast<std::size_t>(contents_.call_bytes));
  }
  [[nodiscard]] std::span<std::byte> current() { return slot(slot_); }
  /// Counts as the payload counts: the calls of a rank behind each other.
  [[nodiscard]] std::uint64_t offset_bytes() const { return call() * contents_.call_bytes; }

  AlignedBuffer& memory_;
  BEffIoContents contents_;
  Payload first_;
  Payload second_;
  const Payload* written_ = &first_;
  std::size_t ring_;
  std::size_t slot_bytes_;
  std::size_t slot_;  // of the last call; before the first one the last slot of lap -1
  std::uint64_t lap_ = ~std::uint64_t{0};
};

/// Why a pattern ended: it is done once only, its time was over, its part of the dataset was full, all repetitions were
/// done, it took much longer than scheduled, or a request or an error ended it.
enum class BEffIoEnd { none, once, scheduled, space, count, overtime, stopped };

[[nodiscard]] inline Words<BEffIoEnd> words_of(BEffIoEnd) {
  return {{BEffIoEnd::none, "none"},      {BEffIoEnd::once, "once"},   {BEffIoEnd::scheduled, "scheduled"},
          {BEffIoEnd::space, "space"},    {BEffIoEnd::count, "count"}, {BEffIoEnd::overtime, "overtime"},
          {BEffIoEnd::stopped, "stopped"}};
}

/// Says what a pattern took one rank, in ns. Filling buffers, tags and checks are apart, in `payload`; nothing of them
/// is in what the pattern is accounted.
struct BEffIoTimes {
  std::int64_t calls = 0;
  std::int64_t barrier = 0;
  std::int64_t agree = 0;
  std::int64_t sync = 0;
  std::int64_t open = 0;
  std::int64_t view = 0;
  std::int64_t close = 0;
  std::int64_t last_call = 0;
  std::int64_t last_barrier = 0;
  std::int64_t payload = 0;

  [[nodiscard]] std::int64_t accounted() const { return calls + barrier + agree + sync; }

  [[nodiscard]] Gauges gauges() const {
    const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
    return {{"pattern_s", seconds(accounted())}, {"calls_s", seconds(calls)},
            {"barrier_s", seconds(barrier)},     {"agree_s", seconds(agree)},
            {"sync_s", seconds(sync)},           {"open_s", seconds(open)},
            {"view_s", seconds(view)},           {"close_s", seconds(close)},
            {"last_call_s", seconds(last_call)}, {"last_barrier_s", seconds(last_barrier)},
            {"payload_s", seconds(payload)}};
  }
};

/// Counts what was read and looked at.
struct BEffIoFound {
  std::uint64_t verified_bytes = 0;
  std::uint64_t bad_blocks = 0;
  std::optional<Mismatch> first;  // its offset counts from the first byte of
  std::uint64_t first_call = 0;
};

struct BEffIoLoopWork {
  ViewedFile* file = nullptr;
  Direction direction = Direction::write;
  Pointer pointer = Pointer::together;
  bool verify = false;  // what is read
  const mpi::Comm* everyone = nullptr;
  BEffIoBuffers* buffers = nullptr;
};

/// When a pattern ends that time decides about.
struct BEffIoUntil {
  BEffIoRule rule = BEffIoRule::predicted;
  double scheduled_s = 0;
  std::uint64_t most = 1;  // repetitions
};

inline bool is_to_stop() { return StopFlags::instance().now().load(std::memory_order_relaxed); }

inline std::int64_t ns_of(double seconds) {
  constexpr double most = 9e18;
  return seconds * 1e9 < most ? std::llround(seconds * 1e9) : std::numeric_limits<std::int64_t>::max();
}

/// Used once. All ranks run the same function of it, also a rank whose call fails: it goes along with the others, and
/// says so in status().
class BEffIoLoop final {
 public:
  BEffIoLoop(const BEffIoLoopWork& work, Meter& meter, BEffIoTimes& times)
      : work_(work),
        meter_(meter),
        times_(times),
        decides_(work.everyone->rank() == 0),
        accounted_until_(meter.clock_ns()) {}

  /// After each call all ranks meet, and rank 0 decides.
  void run(const BEffIoUntil& until) {
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

  /// `count` calls. Where they are those of all ranks together, the ranks look from time to time whether `allowance_s`
  /// is over; else each does for itself. At the end, and not timed, the ranks wait for each other.
  void run(std::uint64_t count, double allowance_s) {
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

  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] BEffIoEnd end() const { return end_; }
  [[nodiscard]] const BEffIoFound& found() const { return found_; }

 private:
  [[nodiscard]] bool together() const { return work_.pointer != Pointer::individual; }

  /// Is done also by a rank in error: its file takes part with nothing, so that no other rank waits for it.
  void call() {
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

  void check() {
    if (!status_) return;
    const Payload::Check checked = work_.buffers->check();
    found_.verified_bytes += work_.buffers->call_bytes();
    found_.bad_blocks += checked.bad_blocks;
    if (!checked.first || found_.first) return;
    found_.first = checked.first;
    found_.first_call = work_.buffers->call();
  }

  [[nodiscard]] BEffIoEnd decide(const BEffIoUntil& until, std::uint64_t repetitions) const {
    if (!status_ || is_to_stop()) return BEffIoEnd::stopped;
    if (!b_eff_io_goes_on(until.rule, elapsed_s(), repetitions, until.scheduled_s)) return BEffIoEnd::scheduled;
    return repetitions >= until.most ? BEffIoEnd::space : BEffIoEnd::none;
  }

  /// The repetition after which the next look is; an end is known to all ranks as a number that no repetition has.
  [[nodiscard]] std::uint64_t look(const BEffIoCheckTimes& looks, std::uint64_t repetitions) {
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

  void end_alone(std::int64_t allowance_ns) {
    if (!status_ || !meter_.goes_on())
      end_ = BEffIoEnd::stopped;
    else if (times_.accounted() >= allowance_ns)
      end_ = BEffIoEnd::overtime;
  }

  void meet() {
    work_.everyone->barrier();
    const std::int64_t now = meter_.clock_ns();
    times_.last_barrier = now - accounted_until_;
    times_.barrier += times_.last_barrier;
    accounted_until_ = now;
  }

  [[nodiscard]] double elapsed_s() const { return static_cast<double>(times_.accounted()) * 1e-9; }

  BEffIoLoopWork work_;
  Meter& meter_;
  BEffIoTimes& times_;
  bool decides_;
  std::int64_t accounted_until_;  // from here to the next call is payload
  Status status_;
  std::uint64_t done_ = 0;
  BEffIoEnd end_ = BEffIoEnd::none;
  BEffIoFound found_;
};

}  // namespace ullage
