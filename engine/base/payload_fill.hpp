// SPDX-License-Identifier: Apache-2.0
// How blocks of payload are made, by the widest vectors that this CPU has. Every way makes the same bytes.
#pragma once

#include "base/registry.hpp"
#include "base/std.hpp"

namespace ullage {

/// A file that registers one of these adds a way to make blocks.
struct PayloadFill {
  static constexpr std::size_t block_bytes = 512;
  /// `count` blocks of 512 bytes to `to`: those of `pool`, each of whose words has its block's key added by exclusive
  /// or.
  using Blocks = void (*)(std::byte* to, const std::byte* pool, const std::uint64_t* keys, std::size_t count);

  Description description;
  std::size_t vector_bytes = 0;
  bool (*works_here)() = nullptr;
  Blocks blocks = nullptr;
};

/// That of the widest vectors; asked for after main() began.
[[nodiscard]] const PayloadFill& widest_payload_fill();

}  // namespace ullage
