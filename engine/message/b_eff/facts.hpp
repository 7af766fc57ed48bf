// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.hpp"
#include "message/patterns/b_eff_patterns.hpp"

namespace ullage {

/// Each pattern by name: `rings` (their sizes), `dims`, `order` (the rank at each place, up to `most_places`),
/// `degenerate`: every rank does the same as in an earlier one, `same_as`.
[[nodiscard]] Json facts_of(const BEffPatterns& patterns, int most_places);

}  // namespace ullage
