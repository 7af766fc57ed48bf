// SPDX-License-Identifier: Apache-2.0
// Work that takes the same number of cycles each time, whatever else the core's caches and ports are busy with.
#pragma once

#include <cstdint>

namespace ullage {

constexpr int links_a_block = 16;

/// Cycles of a block of the chain; 0: not known on this processor, where it is still the same work each time.
[[nodiscard]] double cycles_a_block();

/// A chain of `blocks` times `links_a_block` additions, each of which waits for the one before it.
void run_chain(std::uint64_t blocks);

/// Blocks that last `ns` at the clock this core runs at just now; at least 1. Takes some ms.
[[nodiscard]] std::uint64_t blocks_that_last(double ns);

}  // namespace ullage
