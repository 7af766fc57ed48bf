// SPDX-License-Identifier: Apache-2.0
// In which order pairs are measured: pure, and in O(1) memory.
#pragma once

#include <cstdint>
#include <optional>

namespace ullage {

/// Says what a measurement of one direction is between.
struct PairTurn {
  int client = 0;
  int server = 0;
  friend bool operator==(const PairTurn&, const PairTurn&) = default;
};

/// alone: one pair at a time, while all others wait · together: all the disjoint pairs of a tournament's round at once,
/// first in one direction, then in the other.
enum class PairConcurrency { alone, together };

/// Every ordered pair of different ends once, or, with a `stride`, of those among every stride-th end.
class PairSchedule final {
 public:
  PairSchedule(int ends, PairConcurrency concurrency, int stride = 1);

  [[nodiscard]] std::uint64_t turns() const;
  /// Returns what `end` has to do with that turn, if anything.
  [[nodiscard]] std::optional<PairTurn> at(std::uint64_t turn, int end) const;

 private:
  int ends_;
  PairConcurrency concurrency_;
  int stride_;
  int chosen_;  // ends that take part
};

/// HPCC's rule: how far apart the ends are among which pairs are measured, so that all of them take about `budget_s`
/// where one takes `cost_s`, but at least five by five.
[[nodiscard]] int sampling_stride(int ends, double budget_s, double cost_s);

}  // namespace ullage
