// SPDX-License-Identifier: Apache-2.0
// The published formula that the tests of binomial checkpointing compare its actions with. Included by tests only.
#pragma once

#include "storage/workloads/stepfile/revolve.hpp"

namespace ullage::test {

/// Returns the least number of steps to advance over, the first sweep to the last state included. With r repetitions
/// and c checkpoints these are r steps - C(c + r, r - 1).
inline std::uint64_t revolve_advances(std::uint64_t steps, std::uint64_t checkpoints) {
  const std::uint64_t r = revolve_repetitions(steps, checkpoints);
  std::uint64_t chosen = 1;
  for (std::uint64_t k = 1; k < r; ++k) chosen = chosen * (checkpoints + 1 + k) / k;
  return r == 0 ? 0 : r * steps - chosen;
}

/// Returns how many of these the first sweep has computed before.
inline std::uint64_t revolve_recomputations(std::uint64_t steps, std::uint64_t checkpoints) {
  return revolve_advances(steps, checkpoints) - (steps - 1);
}

}  // namespace ullage::test
