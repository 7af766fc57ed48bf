// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/flash/layout.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t relatives = 15;  // 6 neighbours at the faces, the parent and 8 children
constexpr std::uint64_t directions = 3;
constexpr std::uint64_t bounds = 6;  // lower and upper of each direction

std::string word(ElementType type) {
  switch (type) {
    case ElementType::int32:
      return "int32";
    case ElementType::float32:
      return "float32";
    case ElementType::float64:
      return "float64";
    case ElementType::byte:
      break;
  }
  return "byte";
}

}  // namespace

std::string word(FlashFile file) {
  switch (file) {
    case FlashFile::checkpoint:
      return "checkpoint";
    case FlashFile::plot_centred:
      return "plot-centred";
    case FlashFile::plot_corner:
      break;
  }
  return "plot-corner";
}

std::vector<std::string> FlashLayout::unknowns() const {
  if (file != FlashFile::checkpoint) return {"dens", "temp", "pres", "sp01"};
  std::vector<std::string> names{"dens", "velx", "vely", "velz", "pres", "ener",
                                 "temp", "gamc", "game", "enuc", "gpot"};
  for (const char* species : {"01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13"})
    names.push_back(std::string("sp") + species);
  return names;
}

std::vector<ArraySpec> FlashLayout::arrays() const {
  const ElementType real = real_bytes() == 8 ? ElementType::float64 : ElementType::float32;
  const std::uint64_t blocks = total_blocks;
  std::vector<ArraySpec> specs{
      {"refine level", ElementType::int32, {blocks}},   {"node type", ElementType::int32, {blocks}},
      {"gid", ElementType::int32, {blocks, relatives}}, {"coordinates", real, {blocks, directions}},
      {"block size", real, {blocks, directions}},       {"bounding box", real, {blocks, bounds}}};
  const std::uint64_t side = file == FlashFile::plot_corner ? cells + 1 : cells;
  for (auto& name : unknowns()) specs.push_back({std::move(name), real, {blocks, side, side, side}});
  return specs;
}

std::uint64_t FlashLayout::block_bytes() const {
  std::uint64_t bytes = 0;
  for (const ArraySpec& spec : arrays()) bytes += spec.row_bytes();
  return bytes;
}

std::vector<std::uint64_t> flash_offsets(const std::vector<ArraySpec>& arrays) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t next = FlashLayout::header_bytes;
  for (const ArraySpec& spec : arrays) {
    offsets.push_back(next);
    next += spec.size_bytes();
  }
  return offsets;
}

std::string flash_header(const std::vector<ArraySpec>& arrays) {
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

}  // namespace ullage
