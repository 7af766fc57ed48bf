// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "storage/workloads/overlap/overlap.hpp"

namespace ullage::overlap_shape_property_test {

OverlapShape any_shape() {
  return {.transfer_bytes = 8 * *rc::gen::inRange<std::uint64_t>(1, 100),
          .depth = *rc::gen::inRange<std::uint64_t>(1, 9),
          .batches = *rc::gen::inRange<std::uint64_t>(1, 6),
          .rounds = *rc::gen::inRange<std::uint64_t>(1, 10)};
}

RC_GTEST_PROP(OverlapShape, TransfersCoverTheFileOnceAndInTheOrderOfTime, ()) {
  const OverlapShape shape = any_shape();
  std::uint64_t end = 0;
  for (std::uint64_t index = 0; index < shape.stretches(); ++index) {
    if (shape.stretch(index) == Stretch::compute) continue;
    for (std::uint64_t transfer = 0; transfer < shape.transfers(); ++transfer) {
      RC_ASSERT(shape.offset_bytes(shape.area(index), transfer) == end);
      end += shape.transfer_bytes;
    }
  }
  RC_ASSERT(end == shape.file_bytes());
}

RC_GTEST_PROP(OverlapShape, EachRoundHasEachStretchOnce, ()) {
  const OverlapShape shape = any_shape();
  for (std::uint64_t round = 0; round < shape.rounds; ++round) {
    std::set<Stretch> seen;
    for (std::uint64_t place = 0; place < OverlapShape::kinds; ++place)
      seen.insert(shape.stretch(OverlapShape::warm_ups + round * OverlapShape::kinds + place));
    RC_ASSERT(seen.size() == OverlapShape::kinds);
    RC_ASSERT(seen.count(Stretch::warm_up) == 0U);
  }
}

}  // namespace ullage::overlap_shape_property_test
