// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::transfer_pattern_test {
namespace {

TransferShape shape(Order order, FileMode mode = FileMode::shared) {
  TransferShape s;
  s.transfer_bytes = 10;
  s.block_bytes = 30;
  s.segments = 2;
  s.ranks = 4;
  s.file_mode = mode;
  s.order = order;
  s.stride = 4;
  return s;
}

std::vector<std::uint64_t> offsets(const TransferShape& s, std::uint64_t rank) {
  const TransferPattern pattern(s, rank);
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < pattern.operations(); ++i) out.push_back(pattern.offset_bytes(i));
  return out;
}

using Offsets = std::vector<std::uint64_t>;

TEST(TransferPattern, SharedFileInterleavesTheRanksBlocks) {
  EXPECT_EQ(offsets(shape(Order::sequential), 1), (Offsets{30, 40, 50, 150, 160, 170}));
  EXPECT_EQ(TransferPattern(shape(Order::sequential), 1).file_bytes(), 240U);
}

TEST(TransferPattern, FilePerProcessIsDense) {
  EXPECT_EQ(offsets(shape(Order::sequential, FileMode::per_process), 3), (Offsets{0, 10, 20, 30, 40, 50}));
  EXPECT_EQ(TransferPattern(shape(Order::sequential, FileMode::per_process), 3).file_bytes(), 60U);
}

TEST(TransferPattern, BackwardIsTheReverse) {
  EXPECT_EQ(offsets(shape(Order::backward), 1), (Offsets{170, 160, 150, 50, 40, 30}));
}

TEST(TransferPattern, StridedTakesEveryKthThenTheNextOnes) {
  EXPECT_EQ(offsets(shape(Order::strided, FileMode::per_process), 0), (Offsets{0, 40, 10, 50, 20, 30}));
}

TEST(TransferPattern, AStrideBeyondTheEndIsSequential) {
  TransferShape s = shape(Order::strided, FileMode::per_process);
  s.stride = 100;
  EXPECT_EQ(offsets(s, 0), (Offsets{0, 10, 20, 30, 40, 50}));
}

TEST(TransferPattern, IorHardSizes) {
  TransferShape s;
  s.transfer_bytes = s.block_bytes = 47008;
  s.segments = 3;
  s.ranks = 2;
  EXPECT_EQ(offsets(s, 1), (Offsets{47008, 3 * 47008, 5 * 47008}));
}

}  // namespace
}  // namespace ullage::transfer_pattern_test
