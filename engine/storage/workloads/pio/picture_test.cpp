// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/pio/picture.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace ullage::pio_picture_test {
namespace {

TEST(PioPicture, FewRanksHaveFewRequestsAtTheirPlaces) {
  PioShape shape;
  shape.ranks = 64;
  shape.requests = 1000;
  shape.base_bytes = 8;
  const Json strided = picture_of(shape);
  ASSERT_EQ(strided.size(), 4U);
  EXPECT_EQ(strided[1], Json::parse("[[1,1],[5,1],[9,1],[13,1],[17,1],[21,1]]"));
  shape.kind = PioKind::segmented;
  EXPECT_EQ(picture_of(shape)[2][0], Json::parse("[12,1]"));
  shape.kind = PioKind::nested_strided;
  EXPECT_EQ(picture_of(shape)[0], Json::parse("[[0,1],[4,1],[8,1],[13,1],[17,1],[21,1]]"));
  shape.ranks = 1;
  EXPECT_EQ(picture_of(shape).size(), 1U);
}

}  // namespace
}  // namespace ullage::pio_picture_test
