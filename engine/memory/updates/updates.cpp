// SPDX-License-Identifier: Apache-2.0
// Workload `updates`: HPC Challenge's RandomAccess, updates of a table at random places.
#include "memory/updates/updates.hpp"

#include <atomic>
#include <bit>

namespace ullage {
namespace {

constexpr int bits = 64;

/// Numbers are polynomials over GF(2), and the next one is this one times x: element i is x^(2i), the square of bit i.
std::array<std::uint64_t, bits> doubling_factors() {
  std::array<std::uint64_t, bits> factors{};
  std::uint64_t number = 1;
  for (std::uint64_t& factor : factors) {
    factor = number;
    number = next_update(next_update(number));
  }
  return factors;
}

/// Returns the number that is as far from the first number again.
std::uint64_t squared(std::uint64_t number, const std::array<std::uint64_t, bits>& factors) {
  std::uint64_t square = 0;
  for (std::size_t bit = 0; bit < bits; ++bit)
    if ((number >> bit & 1U) != 0) square ^= factors.at(bit);
  return square;
}

std::unique_ptr<Workload> make_updates(const UpdatesParameters& parameters, const WorkloadContext& context) {
  auto kernel = std::make_unique<UpdatesKernel>(parameters, context.world->topology().ranks_on_node);
  return windowed_workload("updates", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_updates{without_storage<UpdatesParameters>({
    .name = "updates",
    .doc = "All threads of a rank change one table at random places, without locks. This is HPC Challenge's "
           "RandomAccess, verified in the same way.",
    .check = on_any_ranks(check_updates),
    .make = make_updates,
})};

}  // namespace

std::uint64_t update_start(std::uint64_t n) {
  n %= update_period;
  if (n == 0) return 1;
  const auto factors = doubling_factors();
  std::uint64_t number = 2;
  for (int bit = static_cast<int>(std::bit_width(n)) - 2; bit >= 0; --bit) {
    number = squared(number, factors);
    if ((n >> static_cast<unsigned>(bit) & 1U) != 0) number = next_update(number);
  }
  return number;
}

UpdateLanes update_lanes_of(std::uint64_t thread, std::uint64_t threads) {
  const std::uint64_t distance = update_period / (threads * update_lanes);
  UpdateLanes lanes{};
  for (std::uint64_t lane = 0; lane < update_lanes; ++lane)
    lanes.at(lane) = update_start((thread * update_lanes + lane) * distance);
  return lanes;
}

void update_table(std::span<std::uint64_t> table, UpdateLanes& lanes, std::uint64_t rounds) {
  const std::uint64_t mask = table.size() - 1;
  std::uint64_t* const elements = table.data();
  for (std::uint64_t round = 0; round < rounds; ++round)
    for (std::uint64_t& number : lanes) {
      number = next_update(number);
      // Other threads may do the same at once; one of both is then lost, but no half of it.
      const std::atomic_ref element_of(elements[number & mask]);
      element_of.store(element_of.load(std::memory_order_relaxed) ^ number, std::memory_order_relaxed);
    }
}

Table<UpdatesParameters> UpdatesParameters::table() {
  using P = UpdatesParameters;
  return joined<P>(WindowParameters::table(),
                   Table<P>{
                       bytes("table_bytes", &P::table_bytes, {table_element, 1e15},
                             "Use a table of this many bytes on each rank. It must be a "
                             "power of two."),
                       choice("pages", &P::pages, "Choose the pages of the memory, as for workload stream."),
                   });
}

Status check_updates(const UpdatesParameters& p, const std::string& pointer) {
  if (!std::has_single_bit(p.table_bytes)) return fail(bad_plan(pointer + "/table_bytes", "must be a power of two"));
  return {};
}

}  // namespace ullage
