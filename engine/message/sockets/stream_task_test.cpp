// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/stream_task.hpp"

#include <gtest/gtest.h>

namespace ullage::stream_task_test {
namespace {

TEST(BlockCheck, BlocksDifferByKeyRankAndStream) {
  const auto block = keyed_block(1, 2, 3, 100);
  EXPECT_EQ(block.size(), 100U);
  EXPECT_EQ(block, keyed_block(1, 2, 3, 100));
  EXPECT_NE(block, keyed_block(2, 2, 3, 100));
  EXPECT_NE(block, keyed_block(1, 3, 3, 100));
  EXPECT_NE(block, keyed_block(1, 2, 4, 100));
}

TEST(BlockCheck, AnyPieceOfTheRepeatedBlockIsRight) {
  const auto block = keyed_block(5, 0, 0, 13);
  std::vector<std::byte> stream;
  for (int i = 0; i < 5; ++i) stream.insert(stream.end(), block.begin(), block.end());
  BlockCheck check(block);
  check.check(0, std::span(stream).first(7));
  check.check(7, std::span(stream).subspan(7, 40));
  EXPECT_EQ(check.bad_pieces(), 0U);
  EXPECT_EQ(check.checked_bytes(), 47U);
}

TEST(BlockCheck, AByteInTheWrongPlaceIsFound) {
  const auto block = keyed_block(5, 0, 0, 13);
  BlockCheck check(block);
  check.check(13, block);
  EXPECT_EQ(check.bad_pieces(), 0U);
  check.check(14, block);  // all of it is one further than it should be
  EXPECT_EQ(check.bad_pieces(), 2U);
  EXPECT_EQ(check.first_bad_offset(), 14U);
}

}  // namespace
}  // namespace ullage::stream_task_test
