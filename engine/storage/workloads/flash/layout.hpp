// SPDX-License-Identifier: Apache-2.0
// The arrays of a FLASH file and which rows of them a rank owns. Pure. Source of the formulas: the FLASH I/O benchmark
// (M. Zingale) and its port to PnetCDF, as docs/suites/flash.md tells them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/array_file.hpp"

namespace ullage {

enum class FlashFile { checkpoint, plot_centred, plot_corner };

/// Blocks of a rank: `given`, or as the original 80 + (rank mod 3).
[[nodiscard]] constexpr std::uint64_t flash_blocks(std::uint64_t given, std::uint64_t rank) {
  return given > 0 ? given : 80 + rank % 3;
}

/// Blocks of all ranks before this one.
[[nodiscard]] constexpr std::uint64_t flash_blocks_before(std::uint64_t given, std::uint64_t rank) {
  if (given > 0) return given * rank;
  const std::uint64_t of_rest = rank % 3 == 2 ? 1 : 0;  // 0 + 1 of the ranks 0 and 1 of the last three
  return 80 * rank + 3 * (rank / 3) + of_rest;
}

/// What a file holds: arrays that describe the blocks, then the unknowns, each with a row for each block.
struct FlashLayout {
  FlashFile file = FlashFile::checkpoint;
  std::uint64_t cells = 8;            // of a block, in each direction
  std::uint64_t plot_real_bytes = 4;  // 8 as the older plots had
  std::uint64_t total_blocks = 0;

  static constexpr std::size_t metadata_arrays = 6;
  static constexpr std::uint64_t header_bytes = 4096;  // of our own format

  [[nodiscard]] std::uint64_t real_bytes() const { return file == FlashFile::checkpoint ? 8 : plot_real_bytes; }
  /// Points of a block: cells, or corners, of which there is one more in each direction.
  [[nodiscard]] std::uint64_t points() const {
    const std::uint64_t side = file == FlashFile::plot_corner ? cells + 1 : cells;
    return side * side * side;
  }
  [[nodiscard]] std::vector<std::string> unknowns() const;
  [[nodiscard]] std::vector<ArraySpec> arrays() const;
  /// Bytes of a block over all arrays: 164 B (116 B with 4-byte reals) and what the unknowns take.
  [[nodiscard]] std::uint64_t block_bytes() const;
  [[nodiscard]] std::uint64_t data_bytes() const { return total_blocks * block_bytes(); }
};

[[nodiscard]] std::string word(FlashFile file);

/// Where the arrays lie in our own format: one after the other behind the header.
[[nodiscard]] std::vector<std::uint64_t> flash_offsets(const std::vector<ArraySpec>& arrays);
/// The header of our own format: what a reader must know to find the arrays.
[[nodiscard]] std::string flash_header(const std::vector<ArraySpec>& arrays);

}  // namespace ullage
