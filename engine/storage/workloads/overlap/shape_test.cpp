// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/overlap/shape.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace ullage::overlap_shape_test {
namespace {

TEST(OverlapShape, CountsStretchesAreasAndBytes) {
  const OverlapShape shape{.transfer_bytes = 512, .depth = 2, .batches = 3, .rounds = 4};
  EXPECT_EQ(shape.stretches(), 18U);
  EXPECT_EQ(shape.areas(), 14U);
  EXPECT_EQ(shape.area_bytes(), 3072U);
  EXPECT_EQ(shape.file_bytes(), 14U * 3072U);
  EXPECT_EQ(shape.stretch(1), Stretch::warm_up);
  EXPECT_EQ(shape.stretch(2), Stretch::io);
  EXPECT_EQ(shape.stretch(3), Stretch::compute);
  EXPECT_EQ(shape.stretch(4), Stretch::blocking);
  EXPECT_EQ(shape.stretch(5), Stretch::both);
  EXPECT_EQ(shape.area(2), 2U);
  EXPECT_EQ(shape.area(4), 3U) << "a computation has no area";
}

TEST(OverlapShape, InFourRoundsEachStandsInEachPlaceAndBehindEachOtherOnce) {
  const OverlapShape shape{.rounds = 4};
  std::map<std::pair<std::uint64_t, Stretch>, int> places;
  std::map<std::pair<Stretch, Stretch>, int> neighbours;
  for (std::uint64_t round = 0; round < 4; ++round) {
    for (std::uint64_t place = 0; place < 4; ++place) {
      const std::uint64_t index = OverlapShape::warm_ups + 4 * round + place;
      ++places[{place, shape.stretch(index)}];
      if (place > 0) ++neighbours[{shape.stretch(index - 1), shape.stretch(index)}];
    }
  }
  EXPECT_EQ(places.size(), 16U);
  EXPECT_EQ(neighbours.size(), 12U);
}

}  // namespace
}  // namespace ullage::overlap_shape_test
