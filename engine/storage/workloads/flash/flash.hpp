// SPDX-License-Identifier: Apache-2.0
// The words of workload `flash`.
#pragma once

#include "storage/array_file.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// The arrays of a FLASH file and which rows of them a rank owns. Pure. Source of the formulas: the FLASH I/O benchmark
// (M. Zingale) and its port to PnetCDF, as docs/suites/flash.md tells them.

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

inline constexpr std::uint64_t block_relatives = 15;  // 6 neighbours at the faces, the parent and 8 children
inline constexpr std::uint64_t space_directions = 3;
inline constexpr std::uint64_t ends_of_box = 6;  // lower and upper of each direction

/// Describes what a file holds: arrays that describe the blocks, then the unknowns, each with a row for each block.
struct FlashLayout {
  FlashFile file = FlashFile::checkpoint;
  std::uint64_t cells = 8;            // of a block, in each direction
  std::uint64_t plot_real_bytes = 4;  // 8 as the older plots had
  std::uint64_t total_blocks = 0;

  static constexpr std::size_t metadata_arrays = 6;
  static constexpr std::uint64_t header_bytes = 4096;  // of our own format

  [[nodiscard]] std::uint64_t real_bytes() const { return file == FlashFile::checkpoint ? 8 : plot_real_bytes; }

  [[nodiscard]] std::vector<std::string> unknowns() const {
    if (file != FlashFile::checkpoint) return {"dens", "temp", "pres", "sp01"};
    std::vector<std::string> names{"dens", "velx", "vely", "velz", "pres", "ener",
                                   "temp", "gamc", "game", "enuc", "gpot"};
    for (const char* species : {"01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13"})
      names.push_back(std::string("sp") + species);
    return names;
  }

  [[nodiscard]] std::vector<ArraySpec> arrays() const {
    const ElementType real = real_bytes() == 8 ? ElementType::float64 : ElementType::float32;
    const std::uint64_t blocks = total_blocks;
    std::vector<ArraySpec> specs{
        {"refine level", ElementType::int32, {blocks}},         {"node type", ElementType::int32, {blocks}},
        {"gid", ElementType::int32, {blocks, block_relatives}}, {"coordinates", real, {blocks, space_directions}},
        {"block size", real, {blocks, space_directions}},       {"bounding box", real, {blocks, ends_of_box}}};
    const std::uint64_t side = file == FlashFile::plot_corner ? cells + 1 : cells;
    for (auto& name : unknowns()) specs.push_back({std::move(name), real, {blocks, side, side, side}});
    return specs;
  }

  /// Returns the bytes of a block, over all arrays: 164 B (116 B with 4-byte reals) and what the unknowns take.
  [[nodiscard]] std::uint64_t block_bytes() const {
    std::uint64_t bytes = 0;
    for (const ArraySpec& spec : arrays()) bytes += spec.row_bytes();
    return bytes;
  }

  [[nodiscard]] std::uint64_t data_bytes() const { return total_blocks * block_bytes(); }
};

inline std::string word(ElementType type) {
  static constexpr std::array<const char*, 4> words{"byte", "int32", "float32", "float64"};
  return words.at(static_cast<std::size_t>(type));
}

[[nodiscard]] inline Words<FlashFile> words_of(FlashFile) {
  return {{FlashFile::checkpoint, "checkpoint"},
          {FlashFile::plot_centred, "plot-centred"},
          {FlashFile::plot_corner, "plot-corner"}};
}

/// Returns where the arrays lie in our own format: one after the other behind the header.
[[nodiscard]] inline std::vector<std::uint64_t> flash_offsets(const std::vector<ArraySpec>& arrays) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t next = FlashLayout::header_bytes;
  for (const ArraySpec& spec : arrays) {
    offsets.push_back(next);
    next += spec.size_bytes();
  }
  return offsets;
}

/// The header of our own format: what a reader must know to find the arrays.
[[nodiscard]] inline std::string flash_header(const std::vector<ArraySpec>& arrays) {
  std::string text = "ULLAGE FLASH 1\n";
  const auto offsets = flash_offsets(arrays);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::string shape;
    for (const std::uint64_t dimension : arrays[i].dimensions)
      shape += (shape.empty() ? "" : "x") + std::to_string(dimension);
    text += std::to_string(offsets[i]) + " " + word(arrays[i].type) + " " + shape + " " + arrays[i].name + "\n";
  }
  text.resize(FlashLayout::header_bytes, '\0');
  return text;
}

struct FlashParameters {
  FlashFile file = FlashFile::checkpoint;
  std::uint64_t cells = 8;
  std::uint64_t blocks = 0;
  std::uint64_t plot_real_bytes = 4;
  FileFormat format = FileFormat::raw;
  bool sync = true;
  bool restart = true;
  DropCache cache = DropCache::none;
  Verify verify = Verify::full;

  [[nodiscard]] static Table<FlashParameters> table();
  [[nodiscard]] FlashLayout layout(std::uint64_t ranks) const {
    return {file, cells, plot_real_bytes, flash_blocks_before(blocks, ranks)};
  }
};

[[nodiscard]] Status check_flash_parameters(const FlashParameters& parameters, const Capabilities& capabilities,
                                            const PlannedLayout& layout, const std::string& pointer);
[[nodiscard]] Needs needs_of_flash(const FlashParameters& parameters, const PlannedLayout& layout);

}  // namespace ullage
