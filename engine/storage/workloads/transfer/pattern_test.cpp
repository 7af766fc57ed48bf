// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/pattern.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace ullage::transfer_pattern_test {

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

}  // namespace ullage::transfer_pattern_test

namespace ullage::mixed_transfer_pattern_test {

/// Four transfers of 8 KiB in two segments of a file that two ranks share.
MixedTransferShape small_shape() {
  MixedTransferShape shape;
  shape.written.transfer_bytes = 8192;
  shape.written.block_bytes = 16384;
  shape.written.segments = 2;
  shape.written.ranks = 2;
  shape.written_operations = 4;
  shape.transfer_bytes = 4096;
  return shape;
}

std::set<std::uint64_t> offsets(const MixedTransferPattern& pattern, std::uint64_t operations) {
  std::set<std::uint64_t> found;
  for (std::uint64_t i = 0; i < operations; ++i) found.insert(pattern.at(i).offset_bytes);
  return found;
}

std::set<std::uint64_t> every_4096(std::initializer_list<std::uint64_t> blocks) {
  std::set<std::uint64_t> wanted;
  for (const std::uint64_t block : blocks)
    for (std::uint64_t at = 0; at < 16384; at += 4096) wanted.insert(block * 16384 + at);
  return wanted;
}

TEST(MixedTransferPattern, PositionsAreThoseOfTheSourcesBlocks) {
  for (const Pick pick : {Pick::random, Pick::permutation, Pick::zipf}) {
    MixedTransferShape shape = small_shape();
    shape.pick = pick;
    EXPECT_EQ(MixedTransferPattern(shape, 0, 0).positions(), 8U);
    EXPECT_EQ(offsets(MixedTransferPattern(shape, 0, 0), 1000), every_4096({0, 2}));
    EXPECT_EQ(offsets(MixedTransferPattern(shape, 0, 1), 1000), every_4096({1, 3}));
  }
}

TEST(MixedTransferPattern, WhatAStonewallLeftUnwrittenIsNotTouched) {
  MixedTransferShape shape = small_shape();
  shape.written_operations = 1;
  EXPECT_EQ(offsets(MixedTransferPattern(shape, 0, 1), 1000), (std::set<std::uint64_t>{16384, 20480}));
}

TEST(MixedTransferPattern, RestOfATransferIsNotUsed) {
  MixedTransferShape shape = small_shape();
  shape.written.transfer_bytes = 47008;
  shape.written.block_bytes = 47008;
  shape.written_operations = 2;
  const MixedTransferPattern pattern(shape, 0, 0);
  EXPECT_EQ(pattern.positions(), 2U * 11);
  for (const std::uint64_t offset : offsets(pattern, 1000)) EXPECT_LE(offset % 94016 + 4096, 47008U);
}

TEST(MixedTransferPattern, RandomPicksDifferBetweenRanksAndSeeds) {
  MixedTransferShape shape = small_shape();
  shape.written_operations = 4000;
  shape.written.segments = 2000;
  const MixedTransferPattern mine(shape, 0, 0);
  const MixedTransferPattern of_another(shape, 1, 0);
  ++shape.seed;
  const MixedTransferPattern reseeded(shape, 0, 0);
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) same += mine.at(i) == of_another.at(i) || mine.at(i) == reseeded.at(i);
  EXPECT_LT(same, 10);
}

TEST(MixedTransferPattern, ZipfHasHotPositionsThatAllRanksOfASourceShare) {
  MixedTransferShape shape = small_shape();
  shape.written_operations = 4000;
  shape.written.segments = 2000;
  shape.pick = Pick::zipf;
  shape.zipf_theta = 1.2;
  const auto hottest = [&](std::uint64_t rank) {
    const MixedTransferPattern pattern(shape, rank, 0);
    std::map<std::uint64_t, int> times;
    for (std::uint64_t i = 0; i < 10'000; ++i) ++times[pattern.at(i).offset_bytes];
    return *std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; });
  };
  EXPECT_GT(hottest(0).second, 1000);
  EXPECT_EQ(hottest(0).first, hottest(1).first);
  EXPECT_NE(hottest(0).first, 0U) << "the hot ones are scattered";
}

}  // namespace ullage::mixed_transfer_pattern_test
