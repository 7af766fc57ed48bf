// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/tile/shape.hpp"

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

}  // namespace ullage
