// SPDX-License-Identifier: Apache-2.0
// Patterns of pairs; of an odd number of ranks the last takes no part.
#pragma once

#include "message/patterns/pattern.hpp"

namespace ullage {

/// Each rank with the one beside it: 0 and 1, 2 and 3 ...
[[nodiscard]] Pattern best_bisection(int ranks);

/// The first with the last, the second with the last but one ...
[[nodiscard]] Pattern worst_bisection(int ranks);

/// Ranks 0 and 1; all others wait.
[[nodiscard]] Pattern first_pair();

}  // namespace ullage
