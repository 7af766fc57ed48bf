// SPDX-License-Identifier: Apache-2.0
// Shows other threads whether this rank waits for other ranks, which is no lack of progress of its own. Process-wide as
// MPI is.
#pragma once

#include "base/pinned.hpp"

#include <atomic>
#include <cstdint>

namespace ullage::mpi {

/// Marks a wait for as long as it lives, at the cost of two relaxed stores; within another one it changes nothing.
/// Every collective of a Comm and every message of one makes its own. Calls that workloads measure, and those of files,
/// which work on a target, are none. Used by the thread that calls MPI.
class Waiting final : Pinned {
 public:
  Waiting() noexcept : is_outermost_(!now()) { step(); }
  ~Waiting() { step(); }

  // To any thread:

  /// This rank waits.
  [[nodiscard]] static bool now() noexcept { return (steps() & 1U) != 0; }
  /// Returns a number that changes whenever a wait begins or ends.
  [[nodiscard]] static std::uint64_t steps() noexcept { return step_count.load(std::memory_order_relaxed); }

 private:
  void step() const noexcept {
    if (is_outermost_) step_count.store(steps() + 1, std::memory_order_relaxed);
  }

  static inline constinit std::atomic<std::uint64_t> step_count = 0;  // odd within a wait
  const bool is_outermost_;
};

}  // namespace ullage::mpi
