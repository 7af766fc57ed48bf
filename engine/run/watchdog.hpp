// SPDX-License-Identifier: Apache-2.0
// A thread that notices when this rank's own work makes no progress, and that listens for requests to stop.
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

class Watchdog final {
 public:
  struct Options {
    std::int64_t limit_ns = 120'000'000'000;
    std::function<bool()> asked_to_stop;  // from the watchdog's thread, twice a second, until it says so
    std::function<void()> on_stop;        // from the watchdog's thread, once
    std::function<void()> on_tick;        // from the watchdog's thread, ten times a second
    // Called from the watchdog's thread, with what hung and for how long; expected not to return.
    std::function<void(const std::string& what, std::int64_t limit_ns)> on_hang;
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

  /// Says what a rank works on. Progress are operations of `meter`, changes of any of `steps` and what `write_back`
  /// counts. Pointers to meter and write-back may be null.
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
  };
  /// The limit of work that names none.
  [[nodiscard]] std::int64_t limit_ns() const noexcept { return options_.limit_ns; }

  /// This rank works on that from now on. Neither waits nor allocates, so that it may be called inside a timer. `work`
  /// outlives the next rest().
  void watch(const Work& work) noexcept {
    turn_.store(turn_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    work_.store(&work, std::memory_order_release);  // who sees the work sees its turn, too
  }
  /// Does the same where the work has no place of its own; not inside a timer.
  void watch(std::string what, const Meter* meter, Steps steps = {});
  /// This rank waits for others, which is not its own lack of progress.
  void rest();
  /// Returns, to any thread, whether this rank rests, and a number that changes when it begins work.
  [[nodiscard]] bool resting() const noexcept { return work_.load(std::memory_order_relaxed) == nullptr; }
  [[nodiscard]] std::uint64_t turn() const noexcept { return turn_.load(std::memory_order_relaxed); }

  static constexpr std::chrono::milliseconds tick{100};

 private:
  void run(const std::stop_token& token);
  void look();
  [[nodiscard]] bool has_progressed(const Work& work, std::int64_t now);
  [[nodiscard]] bool has_written_back(const Work& work, std::int64_t now);
  void look_for_stop();

  const Options options_;  // never changed once the thread runs, so both threads read it without a lock

  // Guards own_, which the caller's thread writes, and keeps the watched work in place while the watchdog's thread
  // looks at it. The meter itself is the caller's; its progress() is atomic.
  std::mutex mutex_;
  Work own_;
  std::atomic<const Work*> work_ = nullptr;  // null: resting
  std::atomic<std::uint64_t> turn_ = 0;      // of calls of watch, which one thread makes

  // Only the watchdog's own thread touches these.
  std::uint64_t seen_turn_ = 0;
  std::int64_t turn_began_ns_ = 0;
  std::int64_t asked_ns_ = 0;  // for what was written back
  std::uint64_t seen_written_ = 0;
  std::int64_t server_ns_ = 0;  // what it may need for what it has not confirmed
  std::uint64_t seen_progress_ = 0;
  std::int64_t last_progress_ns_ = 0;
  bool stop_seen_ = false;
  std::int64_t stop_requested_ns_ = 0;
  std::jthread thread_;  // last: started when everything else is ready
};

/// A rank's work on its own between two meetings with the others, watched for as long as this lives.
class Watched final {
 public:
  explicit Watched(Watchdog& watchdog, std::string what, Watchdog::Steps steps = {}) : watchdog_(watchdog) {
    watchdog_.watch(std::move(what), nullptr, std::move(steps));
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { watchdog_.rest(); }

 private:
  Watchdog& watchdog_;
};

}  // namespace ullage
