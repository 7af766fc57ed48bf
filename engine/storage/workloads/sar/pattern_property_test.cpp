// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "storage/workloads/sar/sar.hpp"

namespace ullage::sar_pattern_property_test {

SarShape any_shape() {
  SarShape shape;
  shape.ranks = *rc::gen::inRange<std::uint64_t>(1, 20);
  shape.grid = *rc::gen::inRange<std::uint64_t>(1, 12);
  shape.depth = *rc::gen::inRange<std::uint64_t>(2, 6);
  shape.side = *rc::gen::inRange<std::uint64_t>(1, 20);
  shape.rows = shape.side + *rc::gen::inRange<std::uint64_t>(0, 60);
  shape.columns = shape.side + *rc::gen::inRange<std::uint64_t>(0, 60);
  shape.subimages = *rc::gen::inRange<std::uint64_t>(1, 6);
  shape.seed = *rc::gen::arbitrary<std::uint64_t>();
  return shape;
}

RC_GTEST_PROP(SarPatternProperty, RanksStoreEveryImageOnceInTheOrderOfTime, ()) {
  const SarShape shape = any_shape();
  std::vector<std::uint64_t> stored(shape.locations());  // images so far
  for (std::uint64_t owner = 0; owner < shape.ranks; ++owner) {
    const StoreOrder order(shape, owner);
    for (std::uint64_t i = 0; i < shape.images_of(owner); ++i) {
      const ImageAt image = order(i);
      RC_ASSERT(image.location % shape.ranks == owner);
      RC_ASSERT(image.time == stored.at(image.location)++);
    }
  }
  for (const std::uint64_t images : stored) RC_ASSERT(images == shape.depth);
}

RC_GTEST_PROP(SarPatternProperty, EveryPairIsComparedOnceInTheOrderOfTime, ()) {
  const SarShape shape = any_shape();
  std::vector<std::uint64_t> compared(shape.locations());
  for (std::uint64_t owner = 0; owner < shape.ranks; ++owner) {
    const PairOrder order(shape, owner);
    for (std::uint64_t i = 0; i < shape.pairs_of(owner); ++i) {
      const ImageAt earlier = order(i);
      RC_ASSERT(earlier.location % shape.ranks == owner);
      RC_ASSERT(earlier.time == compared.at(earlier.location)++);
    }
  }
  for (const std::uint64_t pairs : compared) RC_ASSERT(pairs == shape.depth - 1);
}

RC_GTEST_PROP(SarPatternProperty, OwnersHaveEqualSharesOfTheLocations, ()) {
  const SarShape shape = any_shape();
  std::uint64_t all = 0;
  for (std::uint64_t owner = 0; owner < shape.ranks; ++owner) {
    RC_ASSERT(shape.locations_of(owner) <= shape.locations_of(0));
    RC_ASSERT(shape.locations_of(owner) + 1 >= shape.locations_of(0));
    all += shape.locations_of(owner);
  }
  RC_ASSERT(all == shape.locations());
}

RC_GTEST_PROP(SarPatternProperty, SubimagesLieWithinTheirImage, ()) {
  const SarShape shape = any_shape();
  for (std::uint64_t number = 0; number < shape.subimages; ++number) {
    const Corner corner = corner_of(shape, {shape.locations() - 1, 0}, number);
    RC_ASSERT(corner.row + shape.side <= shape.rows);
    RC_ASSERT(corner.column + shape.side <= shape.columns);
    const std::uint64_t last = run_offset_bytes(shape, corner, shape.side - 1);
    RC_ASSERT(last + shape.run_bytes() <= shape.image_bytes());
    const std::uint64_t row_bytes = shape.columns * SarShape::pixel_bytes;
    RC_ASSERT(last % row_bytes + shape.run_bytes() <= row_bytes);
  }
}

RC_GTEST_PROP(SarPatternProperty, NoTwoPiecesShareTheirContents, ()) {
  const SarShape shape = any_shape();
  std::map<std::uint64_t, int> images;
  std::map<std::uint64_t, int> records;
  for (std::uint64_t location = 0; location < shape.locations(); ++location)
    for (std::uint64_t time = 0; time < shape.depth; ++time) {
      ++images[image_position_bytes(shape, {location, time})];
      if (time + 1 < shape.depth) ++records[records_position_bytes(shape, {location, time})];
    }
  RC_ASSERT(images.size() == shape.images());
  RC_ASSERT(records.size() == shape.locations() * (shape.depth - 1));
  for (const auto& [position, count] : images) RC_ASSERT(position % shape.image_bytes() == 0U);
  for (const auto& [position, count] : records) RC_ASSERT(position % shape.records_bytes() == 0U);
}

}  // namespace ullage::sar_pattern_property_test
