// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "base/result.hpp"

namespace ullage {

/// Checks whether this machine measures right: clock, latency histogram, payload (made, found again, every kind of
/// damage noticed) and permutation. One rank, about a second, no storage. Prints a line a check with what was measured;
/// the error names the first check that failed, after all have run.
[[nodiscard]] Status selftest(std::ostream& out);

}  // namespace ullage
