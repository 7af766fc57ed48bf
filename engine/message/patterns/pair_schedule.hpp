// SPDX-License-Identifier: Apache-2.0
// In which order pairs are measured: pure, and in O(1) memory.
#pragma once

#include <cstdint>
#include <optional>

namespace ullage {

// A round robin: everybody meets everybody once, as many as can at the same time.

inline constexpr int no_opponent = -1;

/// n - 1 rounds of an even number of players >= 2; n rounds of an odd one, each of which sits out once.
[[nodiscard]] int tournament_rounds(int players);

/// Whom `player` meets in that round, or no_opponent. O(1); the circle method.
[[nodiscard]] int opponent_in_round(int players, int round, int player);

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
