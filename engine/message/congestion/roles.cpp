// SPDX-License-Identifier: Apache-2.0
#include "message/congestion/roles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "message/patterns/rank_order.hpp"

namespace ullage {
namespace {

constexpr int fewest_of_a_kind = 2;

}  // namespace

int count_of_victims(int ranks, double share) {
  const int wanted = static_cast<int>(std::lround(share * ranks));
  return std::clamp(wanted, fewest_of_a_kind, ranks - fewest_of_a_kind);
}

std::vector<int> choose_victims(int ranks, int count, std::uint64_t seed) {
  std::vector<int> victims = random_order(RandomOrder::uniform, ranks, seed, 0);
  victims.resize(static_cast<std::size_t>(count));
  std::ranges::sort(victims);
  return victims;
}

std::vector<int> ring_order(int count, std::uint64_t seed, std::uint64_t ring) {
  return random_order(RandomOrder::uniform, count, seed, ring + 1);
}

}  // namespace ullage
