// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace ullage {

/// Holds what the outside asked of this rank. `requested`: end after the repetition. `now`: begin no further operation.
/// Process-wide because signal handlers are.
class StopFlags final {
 public:
  static StopFlags& instance();
  /// SIGTERM, SIGINT and SIGUSR1, by which batch systems warn, set `requested`; a second one sets `now`.
  void install();
  [[nodiscard]] const std::atomic<bool>& now() const noexcept { return now_; }
  [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }
  /// When `requested` was first seen set, or 0.
  void request() noexcept;
  void stop_now() noexcept { now_.store(true, std::memory_order_relaxed); }
  void reset() noexcept;

 private:
  std::atomic<bool> requested_ = false;
  std::atomic<bool> now_ = false;
};

}  // namespace ullage
