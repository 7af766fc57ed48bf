// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/place.hpp"

#include <gtest/gtest.h>

namespace ullage::b_eff_io_place_test {
namespace {

BEffIoFileShape shape(BEffIoType type, std::uint64_t rank) {
  BEffIoFileShape shape;
  shape.type = type;
  shape.ranks = 3;
  shape.rank = rank;
  if (is_segmented(type)) shape.segment_bytes = 1 << 20;
  return shape;
}

TEST(BEffIoPlace, ScatteredChunksOfTheRanksAlternate) {
  const BEffIoPlace place{shape(BEffIoType::scatter, 1), 1000, 8, 32};
  EXPECT_EQ(place.offset_bytes(0), 1000U + 8);
  EXPECT_EQ(place.offset_bytes(0, 7), 1000U + 15);
  EXPECT_EQ(place.offset_bytes(0, 8), 1000U + 24 + 8);
  EXPECT_EQ(place.offset_bytes(1), 1000U + 4 * 24 + 8);
  EXPECT_EQ(place.extent_bytes(2), 2U * 3 * 32);
  const FileView view = place.view();
  EXPECT_EQ(view.displacement_bytes, 1000U);
  EXPECT_EQ(view.chunk_bytes, 8U);
  EXPECT_EQ(view.part, 1);
  EXPECT_EQ(view.parts, 3);
  EXPECT_EQ(place.shape.pointer(), Pointer::together);
}

TEST(BEffIoPlace, CallsBySharedPointerLieInTheOrderOfRanks) {
  BEffIoPlace place{shape(BEffIoType::shared, 2), 96, 32, 32};
  EXPECT_EQ(place.offset_bytes(0), 96U + 64);
  EXPECT_EQ(place.offset_bytes(4, 3), 96U + 4 * 96 + 64 + 3);
  EXPECT_EQ(place.view().chunk_bytes, 0U);
  EXPECT_EQ(place.view().displacement_bytes, 96U) << "the same for all ranks";
  EXPECT_EQ(place.shape.pointer(), Pointer::ordered);
  const std::uint64_t with_pointer = place.offset_bytes(4, 3);
  place.shape.shared_pointer = false;
  EXPECT_EQ(place.offset_bytes(4, 3), with_pointer);
  EXPECT_EQ(place.view().chunk_bytes, 32U);
  EXPECT_EQ(place.view().part, 2);
  EXPECT_EQ(place.shape.pointer(), Pointer::together);
}

TEST(BEffIoPlace, SeparatedCallsFollowEachOtherInTheRanksOwnFile) {
  const BEffIoPlace place{shape(BEffIoType::separated, 2), 64, 16, 16};
  EXPECT_EQ(place.offset_bytes(3, 1), 64U + 48 + 1);
  EXPECT_EQ(place.extent_bytes(3), 48U);
  EXPECT_EQ(place.view().displacement_bytes, 64U);
  EXPECT_EQ(place.view().parts, 1);
  EXPECT_EQ(place.shape.pointer(), Pointer::individual);
}

TEST(BEffIoPlace, SegmentsFollowEachOther) {
  const BEffIoPlace place{shape(BEffIoType::segmented, 2), 64, 16, 16};
  EXPECT_EQ(place.offset_bytes(3, 1), (2U << 20) + 64 + 48 + 1);
  EXPECT_EQ(place.extent_bytes(3), 48U);
  EXPECT_EQ(place.view().displacement_bytes, (2U << 20) + 64);
  EXPECT_EQ(place.shape.pointer(), Pointer::individual);
  EXPECT_EQ(shape(BEffIoType::seg_coll, 0).pointer(), Pointer::together);
}

}  // namespace
}  // namespace ullage::b_eff_io_place_test
