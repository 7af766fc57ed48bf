// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ullage {

/// Waits for moments on CLOCK_MONOTONIC: sleeps, then spins through the last stretch, which a sleep would overshoot.
/// Without spinning (more ranks than cores: a spinning rank delays another) each moment is met late by a wake-up, so
/// moments have to be absolute. Owned by one thread, whose timer slack it changes while it lives.
class Pacer final {
 public:
  explicit Pacer(bool spins);
  ~Pacer();
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;
  void wait_until(std::int64_t moment_ns) const noexcept;

 private:
  std::int64_t spin_ns_;
  long slack_before_ns_;
};

}  // namespace ullage
