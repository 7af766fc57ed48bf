// SPDX-License-Identifier: Apache-2.0
#include "probes/clock_chain.hpp"

#include <algorithm>
#include <limits>

#include "base/clock.hpp"
#include "base/permutation.hpp"

namespace ullage {

std::int64_t clock_chain_ns() {
  constexpr int runs = 3;  // the shortest has met no interrupt
  constexpr int links = 2000;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (int run = 0; run < runs; ++run) {
    const std::int64_t begun = now_ns();
    auto value = static_cast<std::uint64_t>(begun);  // not known to the compiler, so nothing is computed beforehand
    for (int i = 0; i < links; ++i) value = mix64(value);
    volatile std::uint64_t kept = value;
    (void)kept;
    shortest = std::min(shortest, now_ns() - begun);
  }
  return shortest;
}

}  // namespace ullage
