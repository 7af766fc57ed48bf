// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/state.hpp"

#include <algorithm>
#include <vector>

#include "mpi/agreement.hpp"
#include "storage/backend.hpp"

namespace ullage {
namespace {

constexpr int next = 1;
constexpr int ranks_at_once = 1024;  // memory does not grow with the ranks

/// Collective: the number that rank `asked` gave.
std::int64_t number_of(const mpi::Comm& all, std::int64_t own, int asked) {
  std::vector<std::int64_t> numbers;
  mpi::allocate_or_throw(all, [&] { numbers.reserve(static_cast<std::size_t>(std::min(ranks_at_once, all.size()))); });
  std::int64_t found = 0;
  for (int first = 0; first < all.size(); first += ranks_at_once) {
    numbers.assign(static_cast<std::size_t>(std::min(ranks_at_once, all.size() - first)), -1);
    const auto at = [first, &numbers](int rank) {
      return rank >= first && rank - first < static_cast<int>(numbers.size())
                 ? &numbers[static_cast<std::size_t>(rank - first)]
                 : nullptr;
    };
    if (std::int64_t* const place = at(all.rank())) *place = own;
    all.max_all(numbers);
    if (const std::int64_t* const place = at(asked)) found = *place;
  }
  return found;
}

}  // namespace

SarState::SarState(const SarParameters& given, const StorageContext& bound)
    : parameters(given), context(bound), capabilities(bound.backend->capabilities()) {
  const auto ranks = static_cast<std::uint64_t>(context.world->size());
  shape = parameters.shape(ranks);
  dataset.dataset = context.dataset_name();
  dataset.directory = directory_of_dataset(context.dataset_name());
  dataset.grid = parameters.files(ranks);
  source.rank = context.world->rank();
  source_owner = rank();
}

void find_sources(SarState& state) {
  const mpi::World& world = *state.context.world;
  state.source = find_data_source(world, state.parameters.read_back, next);
  state.source_owner = static_cast<std::uint64_t>(number_of(world.all(), state.source.rank, state.source.rank));
}

}  // namespace ullage
