// SPDX-License-Identifier: Apache-2.0
// What quanta of fixed work tell: how much of their time somebody else has taken, and how much the clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/histogram.hpp"

namespace ullage {

/// Equal pieces of a quantum, each followed by a look at the clock.
constexpr std::size_t pieces_a_quantum = 16;
using QuantumStamps = std::span<const std::int64_t, pieces_a_quantum + 1>;

/// A core's clock does not change within a quantum, and an interruption meets one or two of its pieces. So the middle
/// piece tells the clock at that moment, adjacent to all others, and what the quantum took beyond 16 such pieces is
/// noise. A change of the clock makes all 16 longer, and is none.
class QuantumAccount final {
 public:
  /// `stamps`: the quantum's begin, and the end of each piece.
  void add(QuantumStamps stamps);
  void merge(const QuantumAccount& other);

  [[nodiscard]] std::uint64_t count() const { return histogram_.operations(); }
  [[nodiscard]] const Histogram& histogram() const { return histogram_; }
  [[nodiscard]] double total_ns() const { return static_cast<double>(histogram_.sum_ns()); }
  /// Returns what all quanta would have taken had nobody interrupted them, at the clocks they had.
  [[nodiscard]] double undisturbed_ns() const { return undisturbed_ns_; }
  /// Share of the time beyond that; 0 of nothing.
  [[nodiscard]] double noise_share() const;
  /// Share of the time beyond as many of the shortest quantum, which is what fixed-work tests usually call noise: it
  /// holds the clock's changes too.
  [[nodiscard]] double turbo_share() const;

 private:
  Histogram histogram_;
  double undisturbed_ns_ = 0;
};

}  // namespace ullage
