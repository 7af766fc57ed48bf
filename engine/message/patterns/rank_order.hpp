// SPDX-License-Identifier: Apache-2.0
// Orders in which ranks take the places of a pattern, and the pairs of two halves of them.
#pragma once

#include <numeric>

#include "base/parameters.hpp"
#include "base/permutation.hpp"
#include "base/std.hpp"
#include "message/patterns/pattern.hpp"

namespace ullage {

/// uniform: every order is equally likely · slot-probe: as b_eff and HPCC draw theirs, by a place for each rank in turn
/// and the next free one where that is taken; neighbours then stay neighbours more often than by chance.
enum class RandomOrder { uniform, slot_probe };

[[nodiscard]] inline Words<RandomOrder> words_of(RandomOrder) {
  return {{RandomOrder::uniform, "uniform"}, {RandomOrder::slot_probe, "slot-probe"}};
}

/// SplitMix64.
class OrderDraws final {
 public:
  explicit OrderDraws(std::uint64_t key) : state_(key) {}

  /// A number of [0, size), each equally likely: what would favour some is drawn again.
  std::uint64_t below(std::uint64_t size) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t fair = most - most % size;
    std::uint64_t drawn = next();
    while (drawn >= fair) drawn = next();
    return drawn % size;
  }

 private:
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix64(state_);
  }
  std::uint64_t state_;
};

/// Fisher and Yates.
inline std::vector<int> uniform_order(int ranks, OrderDraws draws) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[draws.below(left)]);
  return order;
}

inline std::vector<int> slot_probe_order(int ranks, OrderDraws draws) {
  constexpr int free_place = -1;
  const auto places = static_cast<std::size_t>(ranks);
  std::vector<int> order(places, free_place);
  std::vector<std::size_t> next_free(places);  // from a taken place; paths are shortened as they are followed
  std::iota(next_free.begin(), next_free.end(), std::size_t{0});
  for (int rank = 0; rank < ranks; ++rank) {
    std::size_t place = draws.below(places);
    while (next_free[place] != place) {
      next_free[place] = next_free[next_free[place]];
      place = next_free[place];
    }
    order[place] = rank;
    next_free[place] = (place + 1) % places;
  }
  return order;
}

/// A function of its arguments: the same on every rank, machine and MPI.
[[nodiscard]] inline std::vector<int> random_order(RandomOrder kind, int ranks, std::uint64_t seed,
                                                   std::uint64_t index) {
  const OrderDraws draws(mix64(mix64(seed) ^ index));
  return kind == RandomOrder::uniform ? uniform_order(ranks, draws) : slot_probe_order(ranks, draws);
}

/// 0, n - 1, 1, n - 2, ...: neighbours are as far from each other as can be.
[[nodiscard]] inline std::vector<int> folded_order(int ranks) {
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(ranks));
  for (int place = 0; place < ranks; ++place) order.push_back(place % 2 == 0 ? place / 2 : ranks - 1 - place / 2);
  return order;
}

// Patterns of pairs; of an odd number of ranks the last takes no part.

/// Each rank with the one beside it: 0 and 1, 2 and 3 ...
[[nodiscard]] inline Pattern best_bisection(int ranks) { return {"best-bisection", {}, Pairs{ranks / 2}}; }

/// The first with the last, the second with the last but one ...
[[nodiscard]] inline Pattern worst_bisection(int ranks) {
  const int pairs = ranks / 2;
  return {"worst-bisection", folded_order(2 * pairs), Pairs{pairs}};
}

/// Ranks 0 and 1; all others wait.
[[nodiscard]] inline Pattern first_pair() { return {"ping-pong", {}, Pairs{1}}; }

}  // namespace ullage
