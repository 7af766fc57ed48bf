// SPDX-License-Identifier: Apache-2.0
// CLOCK_MONOTONIC for less: between two readings of it, the processor's time-stamp counter tells the time.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/clock.hpp"

namespace ullage {

/// Owned by one thread. Where the kernel keeps CLOCK_MONOTONIC by the same counter, a reading costs half of the
/// kernel's; elsewhere it is the kernel's. Set by the kernel's once a millisecond, so the two differ by what one
/// millisecond's drift is, a few ns. Never goes back.
class TickClock final {
 public:
  /// Begins to tell the time; the first call in a process finds out whether the counter can be used.
  TickClock() noexcept : usable_(is_usable()) {}

  [[nodiscard]] std::int64_t now_ns() noexcept {
#if defined(__x86_64__)
    if (usable_) [[likely]] {
      const std::uint64_t since = __rdtsc() - set_ticks_;
      if (since < valid_ticks_) [[likely]]
        return set_ns_ + static_cast<std::int64_t>((since * ns_a_tick_) >> fraction_bits);
      return set(since);
    }
#endif
    return ullage::now_ns();
  }

  /// Returns whether the kernel says that it keeps time by a counter that runs at one rate on all cores.
  [[nodiscard]] static bool is_usable() noexcept;

 private:
  static constexpr int fraction_bits = 32;
  /// The kernel's time, from which the counter goes on; `since`: ticks since it was set last.
  std::int64_t set(std::uint64_t since) noexcept;

  bool usable_;
  std::uint64_t set_ticks_ = 0;
  std::int64_t set_ns_ = 0;
  std::uint64_t ns_a_tick_ = 0;    // of 2^-32 ns; 0: not known yet
  std::uint64_t valid_ticks_ = 0;  // after which it has to be set again
};

}  // namespace ullage
