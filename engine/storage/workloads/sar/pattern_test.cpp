// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::sar_pattern_test {
namespace {

TEST(SarPattern, SizesAreThoseOfThePublishedImages) {
  const SarShape shape;
  EXPECT_EQ(shape.image_bytes(), 3'459'456U);
  EXPECT_EQ(shape.raw_bytes(), 9'810'944U);
  EXPECT_EQ(shape.run_bytes(), 256U);
  EXPECT_EQ(shape.row_stride_bytes(), 3024U);
  EXPECT_EQ(shape.group_bytes(), 8U * 16384);
  EXPECT_EQ(shape.records_bytes(), 8U * 64);
}

TEST(SarPattern, LocationsAreDealtInTurns) {
  SarShape shape;
  shape.grid = 3;
  shape.ranks = 4;
  EXPECT_EQ(shape.locations_of(0), 3U);
  for (const std::uint64_t rank : {1U, 2U, 3U}) EXPECT_EQ(shape.locations_of(rank), 2U);
  shape.ranks = 12;
  EXPECT_EQ(shape.locations_of(8), 1U);
  EXPECT_EQ(shape.locations_of(9), 0U) << "more ranks than locations";
  EXPECT_EQ(shape.pairs_of(9), 0U);
}

TEST(SarPattern, AStreamGoesOverAllLocationsAtEachTime) {
  SarShape shape;
  shape.grid = 8;
  shape.depth = 3;
  const StoreOrder order(shape, 0);
  std::uint64_t in_place = 0;
  std::uint64_t alike = 0;
  for (std::uint64_t i = 0; i < 192; ++i) {
    EXPECT_EQ(order(i).time, i / 64);
    in_place += order(i).location == i % 64 ? 1U : 0U;
    alike += order(i).location == order((i + 64) % 192).location ? 1U : 0U;
  }
  EXPECT_LT(in_place, 30U) << "a random order leaves 3 in place on average";
  EXPECT_LT(alike, 30U) << "each time has an order of its own";
}

TEST(SarPattern, AnotherSeedIsAnotherOrder) {
  SarShape shape;
  shape.grid = 8;
  SarShape other = shape;
  other.seed = 2;
  std::uint64_t alike = 0;
  for (std::uint64_t i = 0; i < 64; ++i) {
    alike += StoreOrder(shape, 0)(i) == StoreOrder(other, 0)(i) ? 1U : 0U;
    alike += PairOrder(shape, 0)(i) == PairOrder(other, 0)(i) ? 1U : 0U;
  }
  EXPECT_LT(alike, 30U);
}

TEST(SarPattern, PairsOfALocationComeInTheOrderOfTime) {
  SarShape shape;
  shape.depth = 4;
  const PairOrder order(shape, 0);
  for (std::uint64_t i = 0; i < shape.pairs_of(0); ++i) {
    EXPECT_EQ(order(i).time, i % 3);
    EXPECT_EQ(order(i).location, order(i - i % 3).location);
  }
}

TEST(SarPattern, RowsOfASubimageAreARowOfTheImageApart) {
  const SarShape shape;
  EXPECT_EQ(run_offset_bytes(shape, {10, 20}, 0), (10U * 756 + 20) * 4);
  EXPECT_EQ(run_offset_bytes(shape, {10, 20}, 1) - run_offset_bytes(shape, {10, 20}, 0), 3024U);
}

TEST(SarPattern, ContainersHoldTheImagesInTheOrderOfTime) {
  const SarShape shape;
  EXPECT_EQ(image_offset_bytes(shape, ImageLayout::files, 3), 0U);
  EXPECT_EQ(image_offset_bytes(shape, ImageLayout::containers, 3), 3 * shape.image_bytes());
}

TEST(SarSubimages, RowsFillTheirGroupOneBehindTheOther) {
  const SarShape shape;
  std::vector<std::byte> group(shape.group_bytes());
  std::vector<Extent> runs(3);  // of another operation
  const ImageAt earlier{5, 0};
  runs_of(shape, earlier, 7 * shape.image_bytes(), group, runs);
  ASSERT_EQ(runs.size(), shape.subimages * shape.side);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Corner corner = corner_of(shape, earlier, i / 64);
    EXPECT_EQ(runs[i].offset_bytes, 7 * shape.image_bytes() + run_offset_bytes(shape, corner, i % 64));
    EXPECT_EQ(runs[i].length_bytes, 256U);
    EXPECT_EQ(runs[i].data, group.data() + i * 256);
  }
}

}  // namespace
}  // namespace ullage::sar_pattern_test
