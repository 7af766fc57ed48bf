// SPDX-License-Identifier: Apache-2.0
// Halo exchanges on grids of ranks.
#pragma once

#include <string>
#include <vector>

#include "message/patterns/pattern.hpp"

namespace ullage {

/// Extents as equal as factors allow, largest first, with `ranks` as their product.
[[nodiscard]] std::vector<int> balanced_extents(int ranks, int dimensions);

/// The largest number of these ranks >= 2 that makes a grid: with more than one place along its last dimension, unless
/// there are too few (below 4, or an even number below 8). Source: b_eff 3.6.
[[nodiscard]] int grid_ranks(int ranks, int dimensions);

/// Both neighbours along every dimension, on as many of the ranks as grid_ranks() says.
[[nodiscard]] Pattern halo(std::string name, int ranks, int dimensions, bool periodic);

/// Both neighbours along one dimension only, periodically.
[[nodiscard]] Pattern halo_along(std::string name, int ranks, int dimensions, int dimension);

}  // namespace ullage
