// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/prctl.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "base/clock.hpp"
#include "base/pinned.hpp"

namespace ullage {

inline constexpr std::int64_t longest_wake_up_ns = 150'000;  // of an idle core in a virtual machine, mostly
inline constexpr std::int64_t not_worth_a_sleep_ns = 2'000;

/// Waits for moments on CLOCK_MONOTONIC: sleeps, then spins through the last stretch, which a sleep would overshoot.
/// Without spinning (more ranks than cores: a spinning rank delays another) each moment is met late by a wake-up, so
/// moments have to be absolute. Owned by one thread, whose timer slack it changes while it lives.
class Pacer final : Pinned {
 public:
  explicit Pacer(bool spins)
      : spin_ns_(spins ? longest_wake_up_ns : not_worth_a_sleep_ns),
        slack_before_ns_(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  }

  ~Pacer() {
    if (slack_before_ns_ > 0) prctl(PR_SET_TIMERSLACK, slack_before_ns_, 0, 0, 0);
  }

  void wait_until(std::int64_t moment_ns) const noexcept {
    const bool spins = spin_ns_ > not_worth_a_sleep_ns;
    std::int64_t left_ns = moment_ns - now_ns();
    if (left_ns > spin_ns_) {
      const std::int64_t wake_ns = spins ? moment_ns - spin_ns_ : moment_ns;
      const timespec wake{static_cast<std::time_t>(wake_ns / 1'000'000'000),
                          static_cast<long>(wake_ns % 1'000'000'000)};
      while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr) == EINTR) {
      }
      left_ns = moment_ns - now_ns();
    }
    while (left_ns > 0) left_ns = moment_ns - now_ns();
  }

 private:
  std::int64_t spin_ns_;
  long slack_before_ns_;
};

}  // namespace ullage
