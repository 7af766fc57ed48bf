// SPDX-License-Identifier: Apache-2.0
// How often work has to be repeated to last as long as is wanted, found by repeating it more and more often.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

namespace ullage {

/// Returns how many repetitions, at least one and at most `most`, last about `wanted_s`. `run(n)` makes n of them and
/// returns how many ns they took; where ranks do that together, all have to be told the same time. It is called a few
/// times with each number it is tried with, of which the shortest counts: what was interrupted looks long, too.
[[nodiscard]] std::uint64_t repetitions_that_last(double wanted_s,
                                                  const std::function<std::int64_t(std::uint64_t)>& run,
                                                  std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2);

}  // namespace ullage
