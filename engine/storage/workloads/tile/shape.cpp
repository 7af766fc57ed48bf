// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/tile/shape.hpp"

#include <algorithm>
#include <utility>

namespace ullage {

std::uint64_t TileShape::frame_bytes() const {
  return axes[0].elements() * axes[1].elements() * axes[2].elements() * element_bytes;
}

std::array<std::uint64_t, 3> TileShape::place_of(std::uint64_t tile) const {
  return {tile / axes[2].tiles / axes[1].tiles, tile / axes[2].tiles % axes[1].tiles, tile % axes[2].tiles};
}

std::uint64_t TileShape::row_offset_bytes(std::uint64_t tile, std::uint64_t frame, std::uint64_t row) const {
  const auto place = place_of(tile);
  const std::uint64_t z = axes[0].begin(place[0]) + row / axes[1].tile;
  const std::uint64_t y = axes[1].begin(place[1]) + row % axes[1].tile;
  const std::uint64_t x = axes[2].begin(place[2]);
  const std::uint64_t element = (z * axes[1].elements() + y) * axes[2].elements() + x;
  return header_bytes + frame * frame_bytes() + element * element_bytes;
}

FileView TileShape::view_of(std::uint64_t tile) const {
  const auto place = place_of(tile);
  mpi::FileArray array;
  array.element_bytes = element_bytes;
  for (std::size_t axis = has_depth() ? 0 : 1; axis < axes.size(); ++axis) {
    array.sizes.push_back(axes[axis].elements());
    array.extents.push_back(axes[axis].tile);
    array.begins.push_back(axes[axis].begin(place[axis]));
  }
  FileView view;
  view.displacement_bytes = header_bytes;
  view.array = std::move(array);
  return view;
}

std::vector<TilePart> TileShape::parts_of(std::uint64_t tile, std::uint64_t most_bytes) const {
  const auto place = place_of(tile);
  const std::array<std::uint64_t, 3> unit_bytes{axes[1].tile * row_bytes(), row_bytes(), element_bytes};
  std::size_t cut = 0;
  while (cut < 2 && unit_bytes[cut] > most_bytes) ++cut;
  std::array<std::uint64_t, 3> steps{1, 1, 1};
  steps[cut] = std::max<std::uint64_t>(most_bytes / unit_bytes[cut], 1);
  for (std::size_t axis = cut + 1; axis < 3; ++axis) steps[axis] = axes[axis].tile;
  std::vector<TilePart> parts;
  std::uint64_t begin_bytes = 0;
  std::array<std::uint64_t, 3> at{};
  const auto range_of = [&](std::size_t axis) {
    return ArrayRange{axes[axis].begin(place[axis]) + at[axis], std::min(steps[axis], axes[axis].tile - at[axis])};
  };
  for (at[0] = 0; at[0] < axes[0].tile; at[0] += steps[0])
    for (at[1] = 0; at[1] < axes[1].tile; at[1] += steps[1])
      for (at[2] = 0; at[2] < axes[2].tile; at[2] += steps[2]) {
        TilePart part{{range_of(0), range_of(1), range_of(2)}, begin_bytes, element_bytes};
        for (const ArrayRange& range : part.ranges) part.length_bytes *= range.extent;
        begin_bytes += part.length_bytes;
        parts.push_back(part);
      }
  return parts;
}

}  // namespace ullage
