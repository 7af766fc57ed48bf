// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/tile/shape.hpp"

#include <gtest/gtest.h>

namespace ullage::tile_shape_test {
namespace {

TileShape shape_of(TileAxis z, TileAxis y, TileAxis x, std::uint64_t element_bytes, std::uint64_t header_bytes = 0) {
  TileShape shape;
  shape.axes = {z, y, x};
  shape.element_bytes = element_bytes;
  shape.header_bytes = header_bytes;
  return shape;
}

TEST(TileShape, SizesAreThoseOfTheOriginal) {
  const TileShape measured = shape_of({}, {2, 1024, 8}, {2, 1024, 16}, 16);
  EXPECT_EQ(measured.file_bytes(), 66324480U);
  const TileShape display = shape_of({}, {2, 768, 128}, {3, 1024, 270}, 3);
  EXPECT_EQ(display.axes[2].elements(), 2532U);
  EXPECT_EQ(display.axes[1].elements(), 1408U);
  EXPECT_EQ(display.frame_bytes(), 2532U * 1408 * 3);
  EXPECT_EQ(display.tile_bytes(), 1024U * 768 * 3);
  EXPECT_EQ(display.tiles(), 6U);
}

TEST(TileShape, HeaderAndFramesComeBeforeAndBehind) {
  TileShape shape = shape_of({}, {2, 10, 0}, {2, 10, 0}, 3, 100);
  shape.frames = 4;
  EXPECT_EQ(shape.file_bytes(), 100U + 4 * 20 * 20 * 3);
  EXPECT_EQ(shape.row_offset_bytes(0, 0, 0), 100U);
  EXPECT_EQ(shape.row_offset_bytes(0, 2, 0), 100U + 2 * 1200);
  EXPECT_EQ(shape.row_offset_bytes(3, 0, 0), 100U + (10 * 20 + 10) * 3) << "x runs fastest over the ranks";
  EXPECT_EQ(shape.row_offset_bytes(1, 0, 1), 100U + (20 + 10) * 3);
}

TEST(TileShape, DepthIsTheSlowestDimension) {
  const TileShape shape = shape_of({2, 4, 1}, {3, 5, 2}, {2, 6, 3}, 8);
  EXPECT_TRUE(shape.has_depth());
  EXPECT_EQ(shape.frame_bytes(), 7U * 11 * 9 * 8);
  EXPECT_EQ(shape.place_of(7), (std::array<std::uint64_t, 3>{1, 0, 1}));
  EXPECT_EQ(shape.row_offset_bytes(7, 0, 0), (3U * 11 * 9 + 3) * 8);
  EXPECT_EQ(shape.view_of(7).array->begins, (std::vector<std::uint64_t>{3, 0, 3}));
  const TileShape flat = shape_of({}, {3, 5, 2}, {2, 6, 3}, 8);
  EXPECT_EQ(flat.view_of(0).array->sizes, (std::vector<std::uint64_t>{11, 9}));
}

TEST(TileShape, NothingIsCutTo32Bits) {
  TileShape shape = shape_of({}, {1000, 100000, 0}, {1000, 100000, 0}, 1000, std::uint64_t{5} << 30);
  EXPECT_EQ(shape.frame_bytes(), 10'000'000'000'000'000'000U);
  shape = shape_of({}, {2, 50000, 0}, {2, 50000, 0}, 16, std::uint64_t{5} << 30);
  EXPECT_EQ(shape.row_offset_bytes(3, 0, 0), (std::uint64_t{5} << 30) + (50000ULL * 100000 + 50000) * 16);
  EXPECT_EQ(shape.tile_bytes(), 50000ULL * 50000 * 16);
}

}  // namespace
}  // namespace ullage::tile_shape_test
