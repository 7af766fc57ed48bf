// SPDX-License-Identifier: Apache-2.0
// The stop-watch a backend ticks: one clock read an operation, nothing else that costs.
#pragma once

#include <atomic>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "base/permutation.hpp"
#include "base/pinned.hpp"
#include "base/std.hpp"
#include "base/tick_clock.hpp"
#include "base/time_series.hpp"

namespace ullage {

/// Returns whether number `n` of many is one of those looked into: one in 32, without a period. Another `key` takes
/// others.
[[nodiscard]] constexpr bool is_sampled(std::uint64_t n, std::uint64_t key) noexcept {
  return (mix64(n ^ key) & 31U) == 0;
}

/// One rank's account of one phase. The phase runner starts it, a backend calls completed() after each operation,
/// and neither looks at the clock in between: an operation lasts from the end of the one before it.
class Meter final : Pinned {
 public:
  /// Nobody stops what it accounts for.
  Meter() noexcept : Meter(never) {}
  explicit Meter(const std::atomic<bool>& stop_now) noexcept : given_stop_(&stop_now), stop_now_(&stop_now) {}

  /// Forgets what was counted, which takes longer than a short operation: before the timer.
  void forget() noexcept;
  /// Forgets what it was told, too: whoever used it before, and however that ended, the next phase finds it as new,
  /// with so many parts. Only the key of samples is kept.
  void renew(bool obeys_stop, std::size_t parts);
  /// After forget(): the first operation begins at `start_ns`. Operations ending at or after `deadline_ns` are the
  /// last.
  void begin(std::int64_t start_ns, std::int64_t deadline_ns = no_deadline) noexcept {
    last_ns_ = start_ns;
    deadline_ns_ = deadline_ns;
    series_.begin(start_ns);
  }
  void start(std::int64_t start_ns, std::int64_t deadline_ns = no_deadline) noexcept {
    forget();
    begin(start_ns, deadline_ns);
  }

  /// Call after each operation. False: begin no further one (deadline reached or the run is being stopped).
  [[nodiscard]] bool completed(std::uint64_t bytes) noexcept { return completed_since(last_ns_, bytes); }

  /// Does the same for an operation that was begun at `begun_ns`, while others were under way.
  [[nodiscard]] bool completed_since(std::int64_t begun_ns, std::uint64_t bytes) noexcept {
    if (only_counts_) return counted(bytes);
    const std::int64_t now = clock_.now_ns();
    if (histogram_on_) histogram_.add(now - begun_ns);
    series_.add(now, bytes);
    last_ns_ = now;
    bytes_ += bytes;
    operations_.store(operations_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return now < deadline_ns_ && !stop_now_->load(std::memory_order_relaxed);
  }

  /// Call after many operations that were done as one: a single clock read for all of them.
  [[nodiscard]] bool completed_many(std::uint64_t operations, std::uint64_t bytes) noexcept;

  /// Does operations [0, count) in their order until the deadline or a stop; `operation(i)` returns the bytes that it
  /// moved, 0 when it failed, which ends this with false. Several of them share a clock reading as long as one alone
  /// takes less than `shortest_stamped_ns`: each then counts as their mean.
  template <class Operation>
  [[nodiscard]] bool each(std::uint64_t count, const Operation& operation) {
    for (std::uint64_t next = 0; next < count;) {
      const std::uint64_t first = next;
      const std::uint64_t end = std::min(count, first + group_);
      std::uint64_t bytes = 0;
      std::uint64_t moved = 1;
      while (next < end && (moved = operation(next)) != 0) {
        bytes += moved;
        ++next;
      }
      const bool goes_on = next == first || completed_group(next - first, bytes);
      if (moved == 0) return false;
      if (!goes_on) break;
    }
    return true;
  }

  /// `operations` >= 1 have ended since the last reading of the clock.
  bool completed_group(std::uint64_t operations, std::uint64_t bytes) noexcept {
    const std::int64_t now = clock_.now_ns();
    const std::int64_t took_ns = now - last_ns_;
    if (histogram_on_) histogram_.add_group(took_ns, operations);
    series_.add(now, bytes, operations);
    last_ns_ = now;
    bytes_ += bytes;
    unstamped_ += operations - 1;
    operations_.store(operations_.load(std::memory_order_relaxed) + operations, std::memory_order_relaxed);
    if (operations == group_) adapt_group(took_ns);
    return now < deadline_ns_ && !stop_now_->load(std::memory_order_relaxed);
  }

  /// Parts that operations are made of, each with a histogram of its own, which forget() clears.
  void use_parts(std::size_t count) { parts_.resize(count); }
  void add_part(std::size_t part, std::int64_t took_ns) noexcept { parts_[part].add(took_ns); }
  [[nodiscard]] std::span<const Histogram> parts() const noexcept { return parts_; }

  /// Says which operations are looked into part by part where not all are: others by another key. Kept by forget().
  void sample_by(std::uint64_t key) noexcept { sampling_key_ = key; }
  [[nodiscard]] bool samples_next() const noexcept { return is_sampled(operations(), sampling_key_); }

  /// Now, by the clock that times operations; for their parts.
  [[nodiscard]] std::int64_t clock_ns() noexcept { return clock_.now_ns(); }

  /// Returns what completed() said last, or would say.
  [[nodiscard]] bool goes_on() const noexcept {
    return last_ns_ < deadline_ns_ && !stop_now_->load(std::memory_order_relaxed);
  }

  /// Collective operations must not end on one rank alone: they do not look at the stop flag.
  void obey_stop(bool obey) noexcept { stop_now_ = obey ? given_stop_ : &never; }

  /// The next operation begins at `from_ns`: what went before (preparing a batch, a sync) is no operation's latency.
  void resume(std::int64_t from_ns) noexcept { last_ns_ = from_ns; }

  /// A sync inside the transfer stage ended; counted, and not part of any operation's latency.
  void synced() noexcept {
    ++syncs_;
    last_ns_ = now_ns();
  }
  /// Nothing was completed, and nothing is wrong: said while a rank waits for others to hand it work.
  void report_alive() noexcept { signs_.store(signs_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// Changes as long as this rank is alive; for another thread, at any time.
  [[nodiscard]] std::uint64_t progress() const noexcept {
    return operations() + signs_.load(std::memory_order_relaxed);
  }
  /// A sync in its own stage.
  void count_sync() noexcept { ++syncs_; }

  void set_deadline(std::int64_t deadline_ns) noexcept { deadline_ns_ = deadline_ns; }
  /// The deadline comes so much later, if there is any.
  void postpone(std::int64_t by_ns) noexcept {
    if (deadline_ns_ != no_deadline) deadline_ns_ += by_ns;
  }
  void use_histogram(bool on) noexcept { histogram_on_ = on; }
  /// completed() reads no clock: for one whose owner times what several operations together take. No deadline holds.
  void only_count() noexcept { only_counts_ = true; }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// May be read by another thread at any time.
  [[nodiscard]] std::uint64_t operations() const noexcept { return operations_.load(std::memory_order_relaxed); }
  /// Readings of the clock that ended operations: fewer than there are operations where each() has grouped them.
  [[nodiscard]] std::uint64_t stamps() const noexcept { return operations() - unstamped_; }
  [[nodiscard]] std::uint64_t syncs() const noexcept { return syncs_; }
  [[nodiscard]] std::int64_t last_ns() const noexcept { return last_ns_; }
  [[nodiscard]] const Histogram& histogram() const noexcept { return histogram_; }
  [[nodiscard]] Histogram& histogram() noexcept { return histogram_; }
  [[nodiscard]] TimeSeries& series() noexcept { return series_; }

  static constexpr std::int64_t no_deadline = std::numeric_limits<std::int64_t>::max();
  /// About 20 readings of the clock: what they cost is at most a twentieth of an operation that is stamped by itself.
  static constexpr std::int64_t shortest_stamped_ns = 250;
  static constexpr std::uint64_t largest_group = 64;

 private:
  static constexpr std::atomic<bool> never = false;

  bool counted(std::uint64_t bytes) noexcept {
    bytes_ += bytes;
    operations_.store(operations_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return !stop_now_->load(std::memory_order_relaxed);
  }

  /// A group lasts one to four times the shortest time that is stamped.
  void adapt_group(std::int64_t took_ns) noexcept {
    if (took_ns < shortest_stamped_ns)
      group_ = std::min(2 * group_, largest_group);
    else if (took_ns > 4 * shortest_stamped_ns && group_ > 1)
      group_ /= 2;
  }

  const std::atomic<bool>* given_stop_;
  const std::atomic<bool>* stop_now_;
  bool histogram_on_ = true;
  bool only_counts_ = false;
  TickClock clock_;
  std::int64_t last_ns_ = 0;
  std::int64_t deadline_ns_ = no_deadline;
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint64_t> operations_ = 0;  // written by one thread: no read-modify-write needed
  std::atomic<std::uint64_t> signs_ = 0;       // likewise
  std::uint64_t group_ = 1;                    // operations that each() does between two readings of the clock
  std::uint64_t unstamped_ = 0;                // operations at whose end the clock was not read
  std::uint64_t syncs_ = 0;
  std::uint64_t sampling_key_ = 0;
  Histogram histogram_;
  TimeSeries series_;
  std::vector<Histogram> parts_;
};

}  // namespace ullage
