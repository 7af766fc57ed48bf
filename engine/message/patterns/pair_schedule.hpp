// SPDX-License-Identifier: Apache-2.0
// In which order pairs are measured: pure, and in O(1) memory.
#pragma once

#include <cmath>

#include "base/std.hpp"

namespace ullage {

// A round robin: everybody meets everybody once, as many as can at the same time.

inline constexpr int no_opponent = -1;

/// n - 1 rounds of an even number of players >= 2; n rounds of an odd one, each of which sits out once.
[[nodiscard]] inline int tournament_rounds(int players) { return players % 2 == 0 ? players - 1 : players; }

/// Whom `player` meets in that round, or no_opponent. O(1); the circle method.
[[nodiscard]] inline int opponent_in_round(int players, int round, int player) {
  const int rounds = tournament_rounds(players);
  // Players 0 .. rounds-1 stand on a circle and meet where their numbers add up to the round's, modulo the circle. The
  // one who would meet himself meets the last player, who stands beside the circle if their number is even.
  const int beside = rounds;
  if (player == beside) {
    // rounds is odd, so 2 has the inverse (rounds + 1) / 2.
    return static_cast<int>(static_cast<long long>(round) * ((rounds + 1) / 2) % rounds);
  }
  const int other = ((round - player) % rounds + rounds) % rounds;
  if (other != player) return other;
  return players == beside ? no_opponent : beside;
}

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
  PairSchedule(int ends, PairConcurrency concurrency, int stride = 1)
      : ends_(ends), concurrency_(concurrency), stride_(stride), chosen_((ends + stride - 1) / stride) {}

  [[nodiscard]] std::uint64_t turns() const {
    if (concurrency_ == PairConcurrency::together) return 2 * static_cast<std::uint64_t>(tournament_rounds(chosen_));
    return static_cast<std::uint64_t>(chosen_) * static_cast<std::uint64_t>(chosen_ - 1);
  }

  /// Returns what `end` has to do with that turn, if anything.
  [[nodiscard]] std::optional<PairTurn> at(std::uint64_t turn, int end) const {
    if (end >= ends_ || end % stride_ != 0) return std::nullopt;
    const int player = end / stride_;
    if (concurrency_ == PairConcurrency::together) {
      const int other = opponent_in_round(chosen_, static_cast<int>(turn / 2), player);
      if (other == no_opponent) return std::nullopt;
      const auto [low, high] = std::minmax(player, other);
      return turn % 2 == 0 ? PairTurn{low * stride_, high * stride_} : PairTurn{high * stride_, low * stride_};
    }
    const auto others = static_cast<std::uint64_t>(chosen_ - 1);
    const int client = static_cast<int>(turn / others);
    const int place = static_cast<int>(turn % others);
    const int server = place < client ? place : place + 1;
    if (player != client && player != server) return std::nullopt;
    return PairTurn{client * stride_, server * stride_};
  }

 private:
  int ends_;
  PairConcurrency concurrency_;
  int stride_;
  int chosen_;  // ends that take part
};

inline constexpr double fewest_sampled = 5;

inline bool is_prime_stride(int number) {
  for (int divisor = 2; divisor <= number / divisor; ++divisor)
    if (number % divisor == 0) return false;
  return number > 1;
}

/// HPCC's rule: how far apart the ends are among which pairs are measured, so that all of them take about `budget_s`
/// where one takes `cost_s`, but at least five by five.
[[nodiscard]] inline int sampling_stride(int ends, double budget_s, double cost_s) {
  const double most = std::max(fewest_sampled, std::floor(std::sqrt(budget_s / cost_s)));
  const int stride = std::max(1, static_cast<int>(ends / most + 0.9));
  if (stride == 1) return 1;
  // Not 2, and nothing that divides the ranks of a node: else always the same of its cores would be asked.
  int prime = std::max(3, stride);
  while (!is_prime_stride(prime)) ++prime;
  return prime;
}

}  // namespace ullage
