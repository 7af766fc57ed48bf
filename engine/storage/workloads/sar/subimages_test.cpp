// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/subimages.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::sar_subimages_test {
namespace {

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
}  // namespace ullage::sar_subimages_test
