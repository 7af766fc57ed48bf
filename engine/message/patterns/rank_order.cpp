// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/rank_order.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include "base/permutation.hpp"

namespace ullage {
namespace {

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
std::vector<int> uniform_order(int ranks, OrderDraws draws) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[draws.below(left)]);
  return order;
}

std::vector<int> slot_probe_order(int ranks, OrderDraws draws) {
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

}  // namespace

Words<RandomOrder> random_order_words() {
  return {{RandomOrder::uniform, "uniform"}, {RandomOrder::slot_probe, "slot-probe"}};
}

std::vector<int> random_order(RandomOrder kind, int ranks, std::uint64_t seed, std::uint64_t index) {
  const OrderDraws draws(mix64(mix64(seed) ^ index));
  return kind == RandomOrder::uniform ? uniform_order(ranks, draws) : slot_probe_order(ranks, draws);
}

std::vector<int> folded_order(int ranks) {
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(ranks));
  for (int place = 0; place < ranks; ++place) order.push_back(place % 2 == 0 ? place / 2 : ranks - 1 - place / 2);
  return order;
}

Pattern best_bisection(int ranks) { return {"best-bisection", {}, Pairs{ranks / 2}}; }

Pattern worst_bisection(int ranks) {
  const int pairs = ranks / 2;
  return {"worst-bisection", folded_order(2 * pairs), Pairs{pairs}};
}

Pattern first_pair() { return {"ping-pong", {}, Pairs{1}}; }

}  // namespace ullage
