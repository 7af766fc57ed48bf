// SPDX-License-Identifier: Apache-2.0
// A thread that notices when this rank's own work makes no progress, and that listens for requests to stop. It watches
// whatever the rank does, from its start to its end, but for waits for other ranks (mpi/waits.hpp). And how long a
// stage of work may take that makes no progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/meter.hpp"
#include "storage/write_back.hpp"

namespace ullage {

// How long a stage may go without a sign of progress, by what it moves without giving one. Pure but for the memory that
// is asked of this node.

/// A whole launch is expected to move to a target at least, in bytes a second: a slower one is a hang.
inline constexpr double slowest_bytes_per_s = 10e6;

/// A rank is expected to fill memory, or to go through it in any order, with so many bytes a second at least.
inline constexpr double slowest_filled_bytes_per_s = 50e6;

/// `least_ns`, or the time that `bytes` of all ranks take at a target.
[[nodiscard]] std::int64_t stage_limit_ns(std::int64_t least_ns, std::uint64_t bytes);

/// `least_ns`, or the time that one rank may compute with `bytes` of memory.
[[nodiscard]] std::int64_t filling_limit_ns(std::int64_t least_ns, std::uint64_t bytes);

/// The limit of a sync or a close after `written_bytes` of each of `ranks`: no more of them is unconfirmed than the
/// memory of all nodes holds.
[[nodiscard]] std::int64_t flush_limit_ns(std::int64_t least_ns, std::uint64_t written_bytes, int ranks,
                                          std::uint64_t memory_bytes);

/// The memory of this node; 0 when the system does not say.
[[nodiscard]] std::uint64_t physical_memory_bytes();

class Watchdog final {
 public:
  struct Options {
    std::int64_t limit_ns = 120'000'000'000;
    // Time on its cores is progress of a step, for at most so long without progress of another kind.
    std::int64_t longest_computing_ns = 0;
    std::function<bool()> asked_to_stop = {};  // from the watchdog's thread, twice a second, until it says so
    std::function<void()> on_stop = {};        // from the watchdog's thread, once
    std::function<void()> on_tick = {};        // from the watchdog's thread, ten times a second
    // Called from the watchdog's thread, with what hung and for how long; expected not to return.
    std::function<void(const std::string& what, std::int64_t limit_ns)> on_hang = {};
    std::vector<int> cpus = {};  // its thread stays on these; empty: where the caller's may run
  };
  explicit Watchdog(Options options);
  ~Watchdog();
  /// Nothing is watched any more and no function called; returns when the thread has ended.
  void end();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Counters that change while a rank progresses in work that no meter counts, such as removing names.
  using Steps = std::vector<const std::atomic<std::uint64_t>*>;

  /// Says what a rank works on. Progress are waits for other ranks, operations of `meter`, changes of any of `steps`
  /// and what `write_back` counts. Pointers to meter and write-back may be null.
  struct Work {
    std::string what;
    const Meter* meter = nullptr;
    Steps steps = {};
    std::int64_t limit_ns = 0;              // without progress; 0: the watchdog's
    const WriteBack* write_back = nullptr;  // looked at once a second, from the second second on
    std::int64_t longest_ns = 0;            // in all, since others may write to the same device; 0: for ever
    // What a server has not confirmed is its progress to come, for at most so long. Others' pages are among them.
    std::int64_t server_ns = 0;
    int nodes = 1;  // that share the server
    std::int64_t longest_computing_ns = 0;
  };
  /// The limit of work that names none.
  [[nodiscard]] std::int64_t limit_ns() const noexcept { return options_.limit_ns; }
  [[nodiscard]] std::int64_t longest_computing_ns() const noexcept { return options_.longest_computing_ns; }

  /// This rank works on that from now on. Neither waits nor allocates, so that it may be called inside a timer. `work`
  /// outlives the Watched in which it is called.
  void watch(const Work& work) noexcept {
    turn_.store(turn_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    work_.store(&work, std::memory_order_release);  // who sees the work sees its turn, too
  }
  /// Returns, to any thread, a number that changes when this rank begins work.
  [[nodiscard]] std::uint64_t turn() const noexcept { return turn_.load(std::memory_order_relaxed); }

  static constexpr std::chrono::milliseconds tick{100};

 private:
  void run(const std::stop_token& token);
  void look();
  [[nodiscard]] bool has_progressed(const Work& work, std::int64_t now);
  [[nodiscard]] bool has_written_back(const Work& work);
  [[nodiscard]] bool has_computed() noexcept;
  [[nodiscard]] bool waits_for_others(const Work& work, std::int64_t now) noexcept;
  [[nodiscard]] bool hangs(const Work& work, std::int64_t now, std::int64_t limit_ns) const noexcept;
  void look_for_stop();

  friend class Watched;

  const Options options_;  // never changed once the thread runs, so both threads read it without a lock
  const Work launch_{.what = "the launch, between its steps", .longest_computing_ns = options_.longest_computing_ns};

  std::mutex mutex_;  // keeps the watched work in place while the watchdog's thread looks at it
  std::atomic<const Work*> work_ = &launch_;
  std::atomic<std::uint64_t> turn_ = 1;  // the launch's, then one more for each call of watch, which one thread makes

  // Only the watchdog's own thread touches these.
  std::uint64_t seen_turn_ = 0;
  std::int64_t turn_began_ns_ = 0;
  std::uint64_t seen_waits_ = 0;
  std::int64_t wait_began_ns_ = 0;
  std::int64_t asked_ns_ = 0;  // for what was written back, and computed
  std::uint64_t seen_written_ = 0;
  std::int64_t server_ns_ = 0;  // what it may need for what it has not confirmed
  std::uint64_t seen_progress_ = 0;
  std::int64_t last_progress_ns_ = 0;
  std::int64_t seen_cpu_ns_ = 0;
  std::int64_t last_computed_ns_ = 0;
  bool stop_seen_ = false;
  std::int64_t stop_requested_ns_ = 0;
  std::jthread thread_;  // last: started when everything else is ready
};

/// A step of a rank, outside of any timer, watched for as long as this lives; then what it is part of is.
class Watched final {
 public:
  explicit Watched(Watchdog& watchdog, std::string what, Watchdog::Steps steps = {}, const Meter* meter = nullptr)
      : watchdog_(watchdog),
        step_{.what = std::move(what),
              .meter = meter,
              .steps = std::move(steps),
              .longest_computing_ns = watchdog.longest_computing_ns()},
        outer_(*watchdog.work_.load(std::memory_order_relaxed)) {
    watchdog_.watch(step_);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() {
    const std::scoped_lock lock(watchdog_.mutex_);
    watchdog_.watch(outer_);
  }

 private:
  Watchdog& watchdog_;
  const Watchdog::Work step_;
  const Watchdog::Work& outer_;
};

}  // namespace ullage
