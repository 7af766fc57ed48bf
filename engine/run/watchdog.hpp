// SPDX-License-Identifier: Apache-2.0
// A thread that notices when this rank's own work makes no progress, and that listens for requests to stop. It watches
// whatever the rank does, from its start to its end, but for waits for other ranks (mpi/waits.hpp). And how long a
// stage of work may take that makes no progress.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/affinity.hpp"
#include "base/clock.hpp"
#include "base/meter.hpp"
#include "base/pinned.hpp"
#include "base/signals.hpp"
#include "base/std.hpp"
#include "mpi/waits.hpp"
#include "storage/write_back.hpp"

namespace ullage {

// How long a stage may go without a sign of progress, by what it moves without giving one. Pure but for the memory that
// is asked of this node.

/// A whole launch is expected to move to a target at least, in bytes a second: a slower one is a hang.
inline constexpr double slowest_bytes_per_s = 10e6;

/// A rank is expected to fill memory, or to go through it in any order, with so many bytes a second at least.
inline constexpr double slowest_filled_bytes_per_s = 50e6;

inline std::int64_t limit_at(double bytes_per_s, std::int64_t least_ns, std::uint64_t bytes) {
  constexpr auto most = static_cast<double>(std::numeric_limits<std::int64_t>::max()) / 2;
  const double needed = std::min(static_cast<double>(bytes) / bytes_per_s * 1e9, most);
  return std::max(least_ns, static_cast<std::int64_t>(needed));
}

/// `least_ns`, or the time that `bytes` of all ranks take at a target.
[[nodiscard]] inline std::int64_t stage_limit_ns(std::int64_t least_ns, std::uint64_t bytes) {
  return limit_at(slowest_bytes_per_s, least_ns, bytes);
}

/// `least_ns`, or the time that one rank may compute with `bytes` of memory.
[[nodiscard]] inline std::int64_t filling_limit_ns(std::int64_t least_ns, std::uint64_t bytes) {
  return limit_at(slowest_filled_bytes_per_s, least_ns, bytes);
}

/// The limit of a sync or a close after `written_bytes` of each of `ranks`: no more of them is unconfirmed than the
/// memory of all nodes holds.
[[nodiscard]] inline std::int64_t flush_limit_ns(std::int64_t least_ns, std::uint64_t written_bytes, int ranks,
                                                 std::uint64_t memory_bytes) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(written_bytes, static_cast<std::uint64_t>(ranks), &bytes)) bytes = memory_bytes;
  return stage_limit_ns(least_ns, memory_bytes > 0 ? std::min(bytes, memory_bytes) : bytes);
}

/// The memory of this node; 0 when the system does not say.
[[nodiscard]] inline std::uint64_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

inline constexpr int ticks_per_stop_look = 5;
inline constexpr std::int64_t ask_again_ns = 1'000'000'000;

// In a second: what polls, as threads of libraries do, takes less, and a rank with a share of a core more.
inline constexpr std::int64_t least_computed_ns = 20'000'000;
inline constexpr std::int64_t said_once = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t grace_after_stop_ns = 10'000'000'000;

class Watchdog final : Pinned {
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
  explicit Watchdog(Options options)
      : options_(std::move(options)), thread_([this](const std::stop_token& token) { run(token); }) {}
  ~Watchdog() = default;

  /// Nothing is watched any more and no function called; returns when the thread has ended.
  void end() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

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

  /// For functions that the watchdog calls: at how many looks this rank was removing, or waited for others after it.
  [[nodiscard]] std::uint64_t removal_looks() const noexcept { return removal_looks_; }

  static constexpr std::chrono::milliseconds tick{100};

 private:
  void run(const std::stop_token& token) {
    // Where the system does not let it, it stays where the rank is.
    if (!options_.cpus.empty()) (void)keep_on(options_.cpus);
    std::mutex sleep_mutex;
    std::condition_variable_any wake;
    std::unique_lock sleep(sleep_mutex);
    for (int count = 0; !token.stop_requested(); ++count) {
      wake.wait_for(sleep, token, tick, [] { return false; });
      if (token.stop_requested()) return;
      if (options_.on_tick) options_.on_tick();
      look();
      if (count % ticks_per_stop_look == 0) look_for_stop();
    }
  }

  void look() {
    std::string hung;
    std::int64_t limit_ns = options_.limit_ns;
    {
      const std::scoped_lock lock(mutex_);
      const Work& work = *work_.load(std::memory_order_acquire);
      const std::int64_t now = now_ns();
      look_for_removal(work);
      if (has_progressed(work, now)) last_progress_ns_ = now;
      if (last_progress_ns_ == said_once) return;
      limit_ns = std::max(work.limit_ns > 0 ? work.limit_ns : limit_ns, server_ns_);
      hung = work.what;
      if (work.longest_ns > 0 && now - turn_began_ns_ >= work.longest_ns) {
        limit_ns = work.longest_ns;
        hung += " (others may have written to its device)";
      } else if (!hangs(work, now, limit_ns)) {
        return;
      }
      last_progress_ns_ = said_once;
    }
    if (options_.on_hang) options_.on_hang(hung, limit_ns);
  }

  [[nodiscard]] static std::uint64_t steps_of(const Work& work) {
    std::uint64_t steps = 0;
    for (const std::atomic<std::uint64_t>* counter : work.steps) steps += counter->load(std::memory_order_relaxed);
    return steps;
  }

  [[nodiscard]] static std::uint64_t progress_of(const Work& work) {
    return steps_of(work) + (work.meter == nullptr ? 0 : work.meter->progress());
  }

  void look_for_removal(const Work& work) {
    const std::uint64_t steps = steps_of(work);
    const bool has_removed = !work.steps.empty() && std::exchange(seen_steps_, steps) != steps;
    is_removing_ = has_removed || (is_removing_ && mpi::Waiting::now());
    if (is_removing_) ++removal_looks_;
  }

  [[nodiscard]] bool has_progressed(const Work& work, std::int64_t now) {
    const std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    const bool is_new = std::exchange(seen_turn_, turn) != turn;
    if (is_new) {
      turn_began_ns_ = now;
      asked_ns_ = now;
      server_ns_ = 0;
      last_computed_ns_ = now;
      (void)has_computed();
    }
    const bool has_waited = waits_for_others(work, now);
    const std::uint64_t progress = progress_of(work);
    const bool has_moved = std::exchange(seen_progress_, progress) != progress;
    bool has_written = false;
    if (now - asked_ns_ >= ask_again_ns) {
      asked_ns_ = now;
      has_written = has_written_back(work);
      if (work.longest_computing_ns > 0 && has_computed()) last_computed_ns_ = now;
    }
    return is_new || has_waited || has_moved || has_written;
  }

  [[nodiscard]] bool has_written_back(const Work& work) {
    if (work.write_back == nullptr) return false;
    server_ns_ = std::min(work.server_ns,
                          stage_limit_ns(0, work.write_back->pending_bytes() * static_cast<std::uint64_t>(work.nodes)));
    const std::uint64_t written = work.write_back->steps();
    return std::exchange(seen_written_, written) != written;
  }

  /// All threads together but this one, since it was last asked.
  [[nodiscard]] bool has_computed() noexcept {
    const std::int64_t cpu_ns = cpu_time_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_time_ns(CLOCK_THREAD_CPUTIME_ID);
    return cpu_ns - std::exchange(seen_cpu_ns_, cpu_ns) >= least_computed_ns;
  }

  /// Ranks of several nodes that wait for each other are seen by nobody else. Between the stages of phases a rank may
  /// have to wait for as long as the slowest one works; within a stage that is no longer than a few limits of that one.
  [[nodiscard]] bool waits_for_others(const Work& work, std::int64_t now) noexcept {
    constexpr int most_limits = 10;
    const std::uint64_t waits = mpi::Waiting::steps();
    if (std::exchange(seen_waits_, waits) != waits) {
      wait_began_ns_ = now;
      return true;
    }
    const bool is_stage = work.longest_computing_ns == 0;
    return mpi::Waiting::now() && (!is_stage || now - wait_began_ns_ < most_limits * options_.limit_ns);
  }

  [[nodiscard]] bool hangs(const Work& work, std::int64_t now, std::int64_t limit_ns) const noexcept {
    const std::int64_t silent_ns = now - last_progress_ns_;
    if (silent_ns < limit_ns) return false;
    return now - last_computed_ns_ >= limit_ns || silent_ns >= work.longest_computing_ns;
  }

  void look_for_stop() {
    if (!stop_seen_ && options_.asked_to_stop && options_.asked_to_stop()) {
      stop_seen_ = true;
      if (options_.on_stop) options_.on_stop();
    }
    if (!StopFlags::instance().requested()) return;
    if (stop_requested_ns_ == 0) stop_requested_ns_ = now_ns();
    if (now_ns() - stop_requested_ns_ > grace_after_stop_ns) StopFlags::instance().stop_now();
  }

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
  std::uint64_t seen_steps_ = 0;
  std::uint64_t removal_looks_ = 0;
  bool is_removing_ = false;
  std::int64_t last_progress_ns_ = 0;
  std::int64_t seen_cpu_ns_ = 0;
  std::int64_t last_computed_ns_ = 0;
  bool stop_seen_ = false;
  std::int64_t stop_requested_ns_ = 0;
  std::jthread thread_;  // last: started when everything else is ready
};

/// A step of a rank, outside of any timer, watched for as long as this lives; then what it is part of is.
class Watched final : Pinned {
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
