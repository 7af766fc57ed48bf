// SPDX-License-Identifier: Apache-2.0
#include "message/congestion_roles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "core/permutation.hpp"

namespace ullage {
namespace {

constexpr int fewest_of_a_kind = 2;

/// Whole numbers, each as likely as any other: what would favour the small ones is drawn again.
class EvenDraw final {
 public:
  explicit EvenDraw(std::uint64_t seed) : state_(mix64(seed)) {}
  [[nodiscard]] std::size_t below(std::size_t bound) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t fair = most - most % bound;
    std::uint64_t value = fair;
    while (value >= fair) value = mix64(state_++);
    return static_cast<std::size_t>(value % bound);
  }

 private:
  std::uint64_t state_;
};

/// The first `count` places of a Fisher-Yates shuffle of the numbers below `size`.
std::vector<int> drawn(int size, int count, std::uint64_t seed) {
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  EvenDraw draw(seed);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    std::swap(numbers[i], numbers[i + draw.below(numbers.size() - i)]);
  numbers.resize(static_cast<std::size_t>(count));
  return numbers;
}

}  // namespace

int count_of_victims(int ranks, double share) {
  const int wanted = static_cast<int>(std::lround(share * ranks));
  return std::clamp(wanted, fewest_of_a_kind, ranks - fewest_of_a_kind);
}

std::vector<int> choose_victims(int ranks, int count, std::uint64_t seed) {
  std::vector<int> victims = drawn(ranks, count, seed);
  std::ranges::sort(victims);
  return victims;
}

std::vector<int> ring_order(int count, std::uint64_t seed, std::uint64_t ring) {
  return drawn(count, count, mix64(seed) ^ (ring + 1));
}

}  // namespace ullage
