// SPDX-License-Identifier: Apache-2.0
// Workload `updates`: HPC Challenge's RandomAccess, updates of a table at random places.
#include "memory/updates/updates.hpp"

#include <atomic>
#include <bit>

#include "base/resources.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t table_element = sizeof(std::uint64_t);
constexpr double share_that_may_be_wrong = 0.01;
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
  return joined<P>(WindowParameters::table(), Table<P>{
                                                  bytes("table_bytes", &P::table_bytes, {table_element, 1e15},
                                                        "Use a table of this many bytes on each rank. It must be a "
                                                        "power of two."),
                                                  choice("pages", &P::pages, pages_words(),
                                                         "Choose the pages of the memory, as for workload stream."),
                                              });
}

Status check_updates(const UpdatesParameters& p, const std::string& pointer) {
  if (!std::has_single_bit(p.table_bytes)) return fail(bad_plan(pointer + "/table_bytes", "must be a power of two"));
  return {};
}

UpdatesKernel::UpdatesKernel(const UpdatesParameters& parameters, int ranks_on_node)
    : parameters_(parameters), shares_(static_cast<std::size_t>(parameters.threads)) {
  ready_ = check_room("table_bytes", Count(parameters.table_bytes) * static_cast<std::uint64_t>(ranks_on_node));
  if (!ready_) return;
  auto region = Region::map(parameters.table_bytes, parameters.pages);
  if (region)
    region_ = std::move(*region);
  else
    ready_ = fail(region.error());
}

std::span<std::uint64_t> UpdatesKernel::elements() const {
  return {reinterpret_cast<std::uint64_t*>(region_->bytes().data()), parameters_.table_bytes / table_element};
}

Status UpdatesKernel::make_ready(std::size_t thread) {
  if (!ready_) return ready_;
  const std::span<std::uint64_t> table = elements();
  const std::uint64_t first = table.size() * thread / shares_.size();
  const std::uint64_t last = table.size() * (thread + 1) / shares_.size();
  if (auto touched = region_->touch(std::as_writable_bytes(table.subspan(first, last - first))); !touched)
    return touched;
  for (std::uint64_t i = first; i < last; ++i) table[i] = i;
  shares_[thread].lanes = update_lanes_of(thread, shares_.size());
  return {};
}

void UpdatesKernel::run(std::size_t thread, std::uint64_t passes) {
  Share& share = shares_[thread];
  update_table(elements(), share.lanes, passes * rounds_a_pass);
  share.rounds += passes * rounds_a_pass;
}

Status UpdatesKernel::check() {
  const std::span<std::uint64_t> table = elements();
  for (std::size_t thread = 0; thread < shares_.size(); ++thread) {
    UpdateLanes lanes = update_lanes_of(thread, shares_.size());
    update_table(table, lanes, shares_[thread].rounds);
  }
  errors_ = 0;
  for (std::uint64_t i = 0; i < table.size(); ++i) errors_ += table[i] != i ? 1 : 0;
  if (static_cast<double>(errors_) <= share_that_may_be_wrong * static_cast<double>(table.size())) return {};
  return fail(verification_error(
      "check", "table",
      std::to_string(errors_) + " of " + std::to_string(table.size()) + " elements are wrong, but at most 1 % may be"));
}

void UpdatesKernel::report(const WindowTotals& totals, Gauges& gauges) const {
  gauges["updates"] = totals.all_passes() * static_cast<double>(rounds_a_pass * update_lanes);
  gauges["errors"] = static_cast<double>(errors_);
  gauges["huge_bytes"] = region_ ? static_cast<double>(region_->huge_bytes()) : 0;
}

namespace {

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
}  // namespace ullage
