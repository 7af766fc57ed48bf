// SPDX-License-Identifier: Apache-2.0
// Workload `chase`: how long one access waits for memory at each distance.
#include "memory/chase/chase.hpp"

#include <numeric>

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

using Follow = void (*)(std::span<const std::byte*>, std::uint64_t);

template <std::size_t... i>
constexpr std::array<Follow, sizeof...(i)> all_follows(std::index_sequence<i...>) {
  return {&follow<i + 1>...};
}

constexpr auto follows = all_follows(std::make_index_sequence<most_chains>());

constexpr std::uint64_t most_slots = std::numeric_limits<std::uint32_t>::max();

std::unique_ptr<Workload> make_chase(const ChaseParameters& given, const WorkloadContext& context) {
  auto parameters = given;
  Status ready = choose_node(parameters, parameters);
  auto kernel = std::make_unique<ChaseKernel>(parameters, context.run_key, context.world->topology().ranks_on_node,
                                              std::move(ready));
  return windowed_workload("chase", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_chase{without_storage<ChaseParameters>({
    .name = "chase",
    .doc = "Each thread follows pointers through its own memory. Each step waits for the one before.",
    .check = on_any_ranks(check_chase),
    .make = make_chase,
})};

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

void chase(std::span<const std::byte*> pointers, std::uint64_t steps) {
  follows.at(pointers.size() - 1)(pointers, steps);
}

Table<ChaseParameters> ChaseParameters::table() {
  using P = ChaseParameters;
  return joined<P>(
      WindowParameters::table(),
      Table<P>{
          bytes("working_set_bytes", &P::working_set_bytes, {2.0 * sizeof(void*), 1e15},
                "Use a working set of this many bytes for each thread."),
          bytes("stride_bytes", &P::stride_bytes, {sizeof(void*), 1e9},
                "Place the pointers this many bytes apart in memory. It must be a multiple of 8."),
          bytes("locality_bytes", &P::locality_bytes, {0, 1e15},
                "Visit all pointers of a piece of this many bytes (a multiple of stride_bytes) before another piece, "
                "to use few pages at a time. 0 means at random through the whole set."),
          count("chains", &P::chains, {1, most_chains}, "Run this many independent chases on each thread.")},
      MemoryPlace::table());
}

Status check_chase_shape(const ChaseShape& shape, const std::string& pointer) {
  if (shape.stride % sizeof(void*) != 0) return fail(bad_plan(pointer + "/stride_bytes", "must be a multiple of 8"));
  if (shape.slots() < 2)
    return fail(
        bad_plan(pointer + "/working_set_bytes", "must be at least two strides, since a chase needs two places"));
  if (shape.slots() > most_slots)
    return fail(bad_plan(pointer + "/working_set_bytes", "must be less than 2^32 strides; take a larger stride_bytes"));
  if (shape.locality % shape.stride != 0)
    return fail(bad_plan(pointer + "/locality_bytes", "must be a multiple of stride_bytes"));
  return {};
}

Status check_chase(const ChaseParameters& p, const std::string& pointer) {
  if (auto status = check_chase_shape(p.shape(), pointer); !status) return status;
  if (static_cast<std::uint64_t>(p.chains) > p.shape().slots())
    return fail(bad_plan(pointer + "/chains", "must not be more than the " + std::to_string(p.shape().slots()) +
                                                  " places of the working set"));
  return {};
}

}  // namespace ullage
