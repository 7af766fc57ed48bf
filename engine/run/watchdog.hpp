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

  /// This rank works on `what` from now on; operations of `meter` (may be null) count as progress.
  void watch(std::string what, const Meter* meter);
  /// This rank waits for others, which is not its own lack of progress.
  void rest();

 private:
  void run(const std::stop_token& token);
  void look();
  void look_for_stop();

  const Options options_;  // never changed once the thread runs, so both threads read it without a lock

  // The caller's thread writes what is watched and the watchdog's own reads and writes it: all five are guarded by
  // mutex_. The meter itself is the caller's; its progress() is atomic.
  std::mutex mutex_;
  std::string what_;
  const Meter* meter_ = nullptr;
  bool watching_ = false;
  std::uint64_t seen_progress_ = 0;
  std::int64_t last_progress_ns_ = 0;

  // Only the watchdog's own thread touches these two.
  bool stop_file_seen_ = false;
  std::int64_t stop_requested_ns_ = 0;
  std::jthread thread_;  // last: started when everything else is ready
};

}  // namespace ullage
