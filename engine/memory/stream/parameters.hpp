// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/parameters.hpp"
#include "memory/pages.hpp"
#include "memory/place.hpp"
#include "memory/stream/choice.hpp"

namespace ullage {

enum class BlockOrder { sequential, random };

struct StreamParameters : WindowParameters, MemoryPlace {
  StreamKind kind = StreamKind::triad;
  Stores stores = Stores::ordinary;
  std::uint64_t working_set_bytes = std::uint64_t{64} << 20U;
  BlockOrder order = BlockOrder::sequential;
  std::uint64_t block_bytes = 0;
  std::uint64_t vector_bytes = 0;

  [[nodiscard]] static Table<StreamParameters> table();

  /// The size of one array of one thread: whole blocks, or whole lines where there is one block.
  [[nodiscard]] std::uint64_t array_bytes() const;
  /// Returns the bytes from one array of a thread to its next: large ones are set apart by some lines, since arrays
  /// that begin alike meet in the same sets of caches and banks of memory (a third of the rate was seen).
  [[nodiscard]] std::uint64_t array_stride() const;
  [[nodiscard]] std::uint64_t block() const { return block_bytes > 0 ? block_bytes : array_bytes(); }
  /// Returns how many blocks each array of one thread has. An order has 32 bits for each.
  [[nodiscard]] std::uint64_t blocks() const { return array_bytes() / block(); }
};

/// `pointer` is that of the parameters object.
[[nodiscard]] Status check_stream(const StreamParameters& parameters, const std::string& pointer);

}  // namespace ullage
