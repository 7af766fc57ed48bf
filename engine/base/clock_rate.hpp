// SPDX-License-Identifier: Apache-2.0
// The clock a core runs at just now, by chains of instructions whose latency is known.
#pragma once

namespace ullage {

/// Cycles per second. 0: not known on this processor.
struct ClockRate {
  double add_hz = 0;       // by a chain of register additions, one cycle each
  double multiply_hz = 0;  // by a chain of 64-bit multiplications, three cycles each
  /// Relative difference of the two; 0 where only one is known. Above `most_disagreement` neither can be believed.
  [[nodiscard]] double disagreement() const;
};

constexpr double most_disagreement = 0.02;

/// Takes about 30 us: the shorter of two runs of each chain, interleaved, so that an interrupt spoils none; more runs,
/// up to four times as long, while the chains disagree. The addends are registers: additions of an immediate are folded
/// when registers are renamed, on Golden Cove and later, and run several a cycle.
[[nodiscard]] ClockRate read_clock_rate();

}  // namespace ullage
