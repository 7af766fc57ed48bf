// SPDX-License-Identifier: Apache-2.0
#include "memory/chase/cycle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/permutation.hpp"

namespace ullage {
namespace {

/// Numbers below a bound, out of a keyed sequence.
class Draws final {
 public:
  explicit Draws(std::uint64_t seed) : state_(mix64(seed)) {}
  /// Below `bound` <= 2^32, by the high half of a product (Lemire 2019), whose bias of 2^-32 does no harm here.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return ((mix64(++state_) >> 32U) * bound) >> 32U; }

 private:
  std::uint64_t state_;
};

void shuffle(std::span<std::uint32_t> numbers, Draws& draws) {
  for (std::size_t left = numbers.size(); left > 1; --left) std::swap(numbers[left - 1], numbers[draws.below(left)]);
}

std::vector<std::uint32_t> shuffled(std::uint64_t count, Draws& draws) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  shuffle(numbers, draws);
  return numbers;
}

template <std::size_t chains>
void follow(std::span<const std::byte*> pointers, std::uint64_t steps) {
  std::array<const std::byte*, chains> at{};
  std::ranges::copy(pointers, at.begin());
  const auto step = [&at]<std::size_t... i>(std::index_sequence<i...>) {
    ((at[i] = *reinterpret_cast<const std::byte* const*>(at[i])), ...);
  };
  const auto steps_of_a_turn = [&step]<std::size_t... i>(std::index_sequence<i...>) {
    ((static_cast<void>(i), step(std::make_index_sequence<chains>())), ...);
  };
  for (; steps > 0; steps -= chase_unroll) steps_of_a_turn(std::make_index_sequence<chase_unroll>());
  std::ranges::copy(at, pointers.begin());
}

using Follow = void (*)(std::span<const std::byte*>, std::uint64_t);

template <std::size_t... i>
constexpr std::array<Follow, sizeof...(i)> all_follows(std::index_sequence<i...>) {
  return {&follow<i + 1>...};
}
constexpr auto follows = all_follows(std::make_index_sequence<most_chains>());

}  // namespace

std::vector<std::uint32_t> chase_order(std::uint64_t slots, std::uint64_t local_slots, std::uint64_t seed) {
  Draws draws(seed);
  if (local_slots >= slots) return shuffled(slots, draws);
  std::vector<std::uint32_t> order;
  order.reserve(slots);
  for (const std::uint64_t place : shuffled((slots + local_slots - 1) / local_slots, draws)) {
    const std::uint64_t first = place * local_slots;
    const std::size_t begin = order.size();
    for (std::uint64_t slot = first; slot < std::min(first + local_slots, slots); ++slot)
      order.push_back(static_cast<std::uint32_t>(slot));
    shuffle(std::span(order).subspan(begin), draws);
  }
  return order;
}

Result<ChaseCycle> ChaseCycle::make(const ChaseShape& shape, Pages pages, int node, std::uint64_t seed) {
  auto region = Region::map(shape.bytes, pages, node);
  if (!region) return fail(region.error());
  if (const Status touched = region->touch(region->bytes()); !touched) return fail(touched.error());
  ChaseCycle cycle(std::move(*region), chase_order(shape.slots(), shape.local_slots(), seed), shape.stride);
  for (std::uint64_t step = 0; step < cycle.slots(); ++step) {
    const std::byte* const next = cycle.slot_after(step + 1);
    std::memcpy(cycle.slot_after(step), static_cast<const void*>(&next), sizeof next);
  }
  return cycle;
}

void chase(std::span<const std::byte*> pointers, std::uint64_t steps) {
  follows.at(pointers.size() - 1)(pointers, steps);
}

}  // namespace ullage
