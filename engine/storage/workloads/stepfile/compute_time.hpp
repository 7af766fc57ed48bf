// SPDX-License-Identifier: Apache-2.0
// How long the application computes at each step. Pure.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/permutation.hpp"

namespace ullage {

/// `step_s` a step on rank 0; the last rank takes `imbalance` of it longer, the others between them in proportion. Each
/// step varies evenly by up to `jitter` of that, up and down, another way on each rank.
class ComputeTime final {
 public:
  ComputeTime(double step_s, double jitter, double imbalance, std::uint64_t rank, std::uint64_t ranks) noexcept
      : step_ns_(step_s * 1e9 *
                 (1 + (ranks > 1 ? imbalance * static_cast<double>(rank) / static_cast<double>(ranks - 1) : 0))),
        jitter_(jitter),
        key_(mix64(rank)) {}

  [[nodiscard]] bool none() const noexcept { return step_ns_ == 0; }
  /// The time of one pass through the step; `pass` 0 is the forward's, 1 the adjoint's, others compute it again.
  [[nodiscard]] std::int64_t at_ns(std::uint64_t step, std::uint64_t pass) const noexcept {
    if (jitter_ == 0) return std::llround(step_ns_);
    const double even = static_cast<double>(mix64(mix64(key_ + step) + pass) >> 11U) * 0x1p-53;
    return std::llround(step_ns_ * (1 + jitter_ * (2 * even - 1)));
  }

 private:
  double step_ns_;
  double jitter_;
  std::uint64_t key_;
};

}  // namespace ullage
