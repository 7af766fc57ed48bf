// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "storage/workloads/tile/tile.hpp"

namespace ullage::tile_shape_property_test {

TileAxis some_axis(bool overlaps) {
  TileAxis axis;
  axis.tiles = *rc::gen::inRange<std::uint64_t>(1, 4);
  axis.tile = *rc::gen::inRange<std::uint64_t>(1, 7);
  if (overlaps) axis.overlap = *rc::gen::inRange<std::uint64_t>(0, axis.tile);
  return axis;
}

TileShape some_shape(bool overlaps) {
  TileShape shape;
  shape.axes = {*rc::gen::arbitrary<bool>() ? some_axis(overlaps) : TileAxis{}, some_axis(overlaps),
                some_axis(overlaps)};
  shape.element_bytes = *rc::gen::inRange<std::uint64_t>(1, 20);
  shape.header_bytes = *rc::gen::inRange<std::uint64_t>(0, 50);
  shape.frames = *rc::gen::inRange<std::uint64_t>(1, 4);
  return shape;
}

/// Returns how often each byte of the file belongs to a tile.
std::vector<int> owners_of_bytes(const TileShape& shape) {
  std::vector<int> owners(shape.file_bytes());
  for (std::uint64_t tile = 0; tile < shape.tiles(); ++tile)
    for (std::uint64_t frame = 0; frame < shape.frames; ++frame)
      for (std::uint64_t row = 0; row < shape.rows(); ++row)
        for (std::uint64_t byte = 0; byte < shape.row_bytes(); ++byte)
          ++owners.at(shape.row_offset_bytes(tile, frame, row) + byte);
  return owners;
}

/// Tiles along one dimension that have this element, from the definition of the overlap.
int owners_along(const TileAxis& axis, std::uint64_t element) {
  int owners = 0;
  for (std::uint64_t tile = 0; tile < axis.tiles; ++tile) {
    const std::uint64_t begin = tile * axis.tile - tile * axis.overlap;
    owners += begin <= element && element < begin + axis.tile ? 1 : 0;
  }
  return owners;
}

RC_GTEST_PROP(TileShapeProperty, WithoutOverlapEachByteHasOneOwner, ()) {
  const TileShape shape = some_shape(false);
  const auto owners = owners_of_bytes(shape);
  for (std::uint64_t at = 0; at < owners.size(); ++at) RC_ASSERT(owners[at] == (at < shape.header_bytes ? 0 : 1));
}

RC_GTEST_PROP(TileShapeProperty, EachElementHasTheOwnersThatTheOverlapsGiveIt, ()) {
  const TileShape shape = some_shape(true);
  const auto owners = owners_of_bytes(shape);
  std::uint64_t at = shape.header_bytes;
  for (std::uint64_t frame = 0; frame < shape.frames; ++frame)
    for (std::uint64_t z = 0; z < shape.axes[0].elements(); ++z)
      for (std::uint64_t y = 0; y < shape.axes[1].elements(); ++y)
        for (std::uint64_t x = 0; x < shape.axes[2].elements(); ++x)
          for (std::uint64_t byte = 0; byte < shape.element_bytes; ++byte) {
            const int expected =
                owners_along(shape.axes[0], z) * owners_along(shape.axes[1], y) * owners_along(shape.axes[2], x);
            RC_ASSERT(expected >= 1);
            RC_ASSERT(owners[at] == expected);
            ++at;
          }
  RC_ASSERT(at == shape.file_bytes());
}

RC_GTEST_PROP(TileShapeProperty, RanksAreRowMajor, ()) {
  const TileShape shape = some_shape(true);
  std::uint64_t rank = 0;
  for (std::uint64_t z = 0; z < shape.axes[0].tiles; ++z)
    for (std::uint64_t y = 0; y < shape.axes[1].tiles; ++y)
      for (std::uint64_t x = 0; x < shape.axes[2].tiles; ++x, ++rank) {
        RC_ASSERT(shape.place_of(rank) == (std::array<std::uint64_t, 3>{z, y, x}));
        if (x > 0)
          RC_ASSERT(shape.row_offset_bytes(rank, 0, 0) - shape.row_offset_bytes(rank - 1, 0, 0) ==
                    (shape.axes[2].tile - shape.axes[2].overlap) * shape.element_bytes);
      }
  RC_ASSERT(rank == shape.tiles());
}

/// Bytes are those that a rank sees through its view one after the other, frame after frame.
RC_GTEST_PROP(TileShapeProperty, AViewShowsEachRowWhereItLies, ()) {
  const TileShape shape = some_shape(true);
  const std::uint64_t tile = *rc::gen::inRange<std::uint64_t>(0, shape.tiles());
  const FileView view = shape.view_of(tile);
  std::vector<std::uint64_t> seen;
  std::uint64_t elements = 1;
  for (const std::uint64_t size : view.array->sizes) elements *= size;
  for (std::uint64_t at = 0; at < shape.frames * elements; ++at) {
    std::uint64_t rest = at % elements;
    bool inside = true;
    for (std::size_t axis = view.array->sizes.size(); axis-- > 0;) {
      const std::uint64_t place = rest % view.array->sizes[axis];
      rest /= view.array->sizes[axis];
      inside =
          inside && place >= view.array->begins[axis] && place < view.array->begins[axis] + view.array->extents[axis];
    }
    for (std::uint64_t byte = 0; inside && byte < view.array->element_bytes; ++byte)
      seen.push_back(view.displacement_bytes + at * view.array->element_bytes + byte);
  }
  std::size_t next = 0;
  for (std::uint64_t frame = 0; frame < shape.frames; ++frame)
    for (std::uint64_t row = 0; row < shape.rows(); ++row)
      for (std::uint64_t byte = 0; byte < shape.row_bytes(); ++byte)
        RC_ASSERT(seen.at(next++) == shape.row_offset_bytes(tile, frame, row) + byte);
  RC_ASSERT(next == seen.size());
}

/// What each part has of the file, row by row, is what the view shows, whatever the most bytes of a part are.
RC_GTEST_PROP(TileShapeProperty, PartsAreTheTileInTheOrderOfMemory, ()) {
  const TileShape shape = some_shape(true);
  const std::uint64_t tile = *rc::gen::inRange<std::uint64_t>(0, shape.tiles());
  const std::uint64_t most = *rc::gen::inRange<std::uint64_t>(1, shape.tile_bytes() + 2);
  std::vector<std::uint64_t> seen;
  for (const TilePart& part : shape.parts_of(tile, most)) {
    RC_ASSERT(part.begin_bytes == seen.size());
    RC_ASSERT(part.length_bytes <= std::max(most, shape.element_bytes));
    const auto& [z, y, x] = part.ranges;
    for (std::uint64_t at_z = z.begin; at_z < z.begin + z.extent; ++at_z)
      for (std::uint64_t at_y = y.begin; at_y < y.begin + y.extent; ++at_y)
        for (std::uint64_t byte = 0; byte < x.extent * shape.element_bytes; ++byte)
          seen.push_back(shape.header_bytes + byte +
                         ((at_z * shape.axes[1].elements() + at_y) * shape.axes[2].elements() + x.begin) *
                             shape.element_bytes);
    RC_ASSERT(part.begin_bytes + part.length_bytes == seen.size());
  }
  std::size_t next = 0;
  for (std::uint64_t row = 0; row < shape.rows(); ++row)
    for (std::uint64_t byte = 0; byte < shape.row_bytes(); ++byte)
      RC_ASSERT(seen.at(next++) == shape.row_offset_bytes(tile, 0, row) + byte);
  RC_ASSERT(next == seen.size());
}

}  // namespace ullage::tile_shape_property_test
