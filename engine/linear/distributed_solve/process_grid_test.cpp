// SPDX-License-Identifier: Apache-2.0
#include "linear/distributed_solve/process_grid.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::process_grid_test {
namespace {

TEST(ProcessGrid, IsAsSquareAsItCanBeAndWiderThanHigh) {
  EXPECT_EQ(grid_shape(1, 0), (GridShape{1, 1}));
  EXPECT_EQ(grid_shape(7, 0), (GridShape{1, 7}));
  EXPECT_EQ(grid_shape(12, 0), (GridShape{3, 4}));
  EXPECT_EQ(grid_shape(16, 0), (GridShape{4, 4}));
  EXPECT_EQ(grid_shape(12, 6), (GridShape{6, 2}));
}

TEST(ProcessGrid, EveryIndexIsDealtOutOnceInBlocks) {
  for (const int total : {1, 5, 16, 17, 63})
    for (const int block : {1, 4, 16})
      for (const int processes : {1, 2, 3, 5}) {
        std::vector<int> owners(static_cast<std::size_t>(total), -1);
        for (int me = 0; me < processes; ++me) {
          const BlockCyclic mine(total, block, processes, me);
          for (int local = 0; local < mine.count(); ++local) {
            const int index = mine.global(local);
            ASSERT_LT(index, total);
            ASSERT_EQ(owners[static_cast<std::size_t>(index)], -1);
            owners[static_cast<std::size_t>(index)] = me;
          }
        }
        for (int index = 0; index < total; ++index)
          ASSERT_EQ(owners[static_cast<std::size_t>(index)], index / block % processes) << index << " of " << total;
      }
}

}  // namespace
}  // namespace ullage::process_grid_test
