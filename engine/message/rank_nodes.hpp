// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.hpp"
#include "mpi/comm.hpp"

namespace ullage {

/// Up to as many ranks, records list something of each rank: a record has a few KB, whatever the number of ranks.
inline constexpr int most_listed_ranks = 32;

/// The number of each rank's node, by rank; empty above most_listed_ranks. Collective.
[[nodiscard]] std::vector<std::uint64_t> nodes_by_rank(const mpi::World& world);

/// Returns the same as facts have it: an object, ranks are the keys.
[[nodiscard]] Json nodes_json(const std::vector<std::uint64_t>& nodes);

}  // namespace ullage
