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

#include "base/meter.hpp"

namespace ullage {

class Watchdog final {
 public:
  struct Options {
    std::int64_t limit_ns = 120'000'000'000;
    std::string stop_file;               // looked for twice a second; empty: not
    std::function<void()> on_stop_file;  // from the watchdog's thread, once
    std::function<void(const std::string&)>
        on_hang;  // from the watchdog's thread, with what hung; expected not to return
  };
  explicit Watchdog(Options options);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// What a rank works on; operations of `meter` (may be null) count as progress.
  struct Work {
    std::string what;
    const Meter* meter = nullptr;
  };

  /// This rank works on that from now on. Neither waits nor allocates, so that it may be called inside a timer. `work`
  /// outlives the next rest().
  void watch(const Work& work) noexcept {
    turn_.store(turn_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    work_.store(&work, std::memory_order_release);  // who sees the work sees its turn, too
  }
  /// The same where the work has no place of its own; not inside a timer.
  void watch(std::string what, const Meter* meter);
  /// This rank waits for others, which is not its own lack of progress.
  void rest();

 private:
  void run(const std::stop_token& token);
  void look();
  void look_for_stop();

  const Options options_;  // never changed once the thread runs, so both threads read it without a lock

  // Guards own_, which the caller's thread writes, and keeps the watched work in place while the watchdog's thread
  // looks at it. The meter itself is the caller's; its progress() is atomic.
  std::mutex mutex_;
  Work own_;
  std::atomic<const Work*> work_ = nullptr;  // null: resting
  std::atomic<std::uint64_t> turn_ = 0;      // of calls of watch, which one thread makes

  // Only the watchdog's own thread touches these five.
  std::uint64_t seen_turn_ = 0;
  std::uint64_t seen_progress_ = 0;
  std::int64_t last_progress_ns_ = 0;
  bool stop_file_seen_ = false;
  std::int64_t stop_requested_ns_ = 0;
  std::jthread thread_;  // last: started when everything else is ready
};

}  // namespace ullage
