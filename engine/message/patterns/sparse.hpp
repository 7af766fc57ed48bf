// SPDX-License-Identifier: Apache-2.0
// Patterns of links without a shape: all to one, and a user's own from a text, a line each `FROM TO [WEIGHT]`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "message/patterns/pattern.hpp"

namespace ullage {

// One against all.

/// Every other rank sends to rank 0.
[[nodiscard]] Pattern incast(int ranks);

/// Rank 0 sends to every other rank.
[[nodiscard]] Pattern outcast(int ranks);

/// WEIGHT messages (1 to 1024, 1 where it is left out) go from rank FROM to rank TO in every iteration. `#` begins a
/// comment; numbers are separated by blanks or tabs. Anything else, a rank that is not there, a rank that sends to
/// itself, a link that stands there twice, and a text without links are errors that name `file` and the line.
[[nodiscard]] Result<Pattern> sparse(std::string_view text, const std::string& file, int ranks);

}  // namespace ullage
