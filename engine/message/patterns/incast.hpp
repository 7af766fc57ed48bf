// SPDX-License-Identifier: Apache-2.0
// One against all.
#pragma once

#include "message/patterns/pattern.hpp"

namespace ullage {

/// Every other rank sends to rank 0.
[[nodiscard]] Pattern incast(int ranks);

/// Rank 0 sends to every other rank.
[[nodiscard]] Pattern outcast(int ranks);

}  // namespace ullage
