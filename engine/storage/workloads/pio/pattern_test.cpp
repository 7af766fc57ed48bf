// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/pio/pattern.hpp"

#include <gtest/gtest.h>

namespace ullage::pio_pattern_test {

std::vector<std::uint64_t> offsets(const PioShape& shape, std::uint64_t rank, bool writes = false) {
  const PioPattern pattern(shape, rank, writes);
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; i < pattern.pieces(); ++i) found.push_back(pattern.piece(i).offset_bytes);
  return found;
}

PioShape shape_of(PioKind kind, std::uint64_t ranks, std::uint64_t requests) {
  PioShape shape;
  shape.kind = kind;
  shape.ranks = ranks;
  shape.requests = requests;
  shape.request_bytes = 10 * 8;
  return shape;
}

using List = std::vector<std::uint64_t>;

TEST(PioPattern, SimpleStridesAreRoundsOfTheRanks) {
  PioShape shape = shape_of(PioKind::simple_strided, 3, 3);
  EXPECT_EQ(offsets(shape, 1), (List{80, 320, 560}));
  shape.base_bytes = 8;
  EXPECT_EQ(offsets(shape, 1), (List{88, 328, 568}));
  EXPECT_EQ(PioPattern(shape, 0).file_bytes(), 8U + 9 * 80);
}

TEST(PioPattern, NestedStridesLeaveGapsBehindEachLevel) {
  PioShape shape = shape_of(PioKind::nested_strided, 2, 4);
  shape.inner_requests = 2;
  shape.gap_requests = 3;
  EXPECT_EQ(offsets(shape, 0), (List{0, 160, 560, 720})) << "S_1 = P B, S_2 = 2 S_1 + 3 B";
  shape.levels = 3;
  shape.requests = 8;
  EXPECT_EQ(offsets(shape, 1), (List{80, 240, 640, 800, 1440, 1600, 2000, 2160})) << "S_3 = 2 S_2 + 3 B";
  shape.levels = 1;
  EXPECT_EQ(offsets(shape, 1), offsets(shape_of(PioKind::simple_strided, 2, 8), 1));
}

TEST(PioPattern, ASegmentOfEachRankIsContiguous) {
  EXPECT_EQ(offsets(shape_of(PioKind::segmented, 3, 2), 2), (List{320, 400}));
}

TEST(PioPattern, AllRanksReadTheSequenceAndShareItsWriting) {
  const PioShape shape = shape_of(PioKind::sequential_shared, 3, 4);
  EXPECT_EQ(offsets(shape, 2), (List{0, 80, 160, 240}));
  EXPECT_EQ(offsets(shape, 0, true), (List{0}));
  EXPECT_EQ(offsets(shape, 1, true), (List{80}));
  EXPECT_EQ(offsets(shape, 2, true), (List{160, 240}));
  EXPECT_EQ(offsets(shape_of(PioKind::sequential_own, 3, 2), 2), (List{0, 80}));
}

TEST(PioPattern, TilesLieBesideAndBelowEachOther) {
  PioShape shape = shape_of(PioKind::tiled, 6, 2);
  EXPECT_EQ(shape.row_of_tiles(), 3U);
  EXPECT_EQ(offsets(shape, 0), (List{0, 240}));
  EXPECT_EQ(offsets(shape, 4), (List{2 * 240 + 80, 3 * 240 + 80})) << "tile (1, 1)";
  shape.tiles_x = 2;
  EXPECT_EQ(offsets(shape, 5), (List{4 * 160 + 80, 5 * 160 + 80})) << "tile (1, 2)";
  EXPECT_EQ(shape_of(PioKind::tiled, 7, 1).row_of_tiles(), 7U);
}

TEST(PioPattern, FlashHasTheBlocksOfAllRanksInEachVariable) {
  PioShape shape = shape_of(PioKind::flash, 3, 2);
  shape.variables = 2;
  // 1, 2 and 3 blocks, 6 in all.
  EXPECT_EQ(offsets(shape, 0), (List{0, 6 * 80}));
  EXPECT_EQ(offsets(shape, 1), (List{80, 160, 7 * 80, 8 * 80}));
  EXPECT_EQ(PioPattern(shape, 0).data_bytes(), 12U * 80);
  EXPECT_EQ(PioPattern(shape, 0).most_pieces(), 6U);
}

/// 80 + (rank mod 3) blocks of 8^3 doubles and 24 unknowns: the unknowns of FLASH's checkpoint on two ranks.
TEST(PioPattern, FlashOfTwoRanksHasThePublishedUnknowns) {
  PioShape shape = shape_of(PioKind::flash, 2, 80 * 24);
  shape.request_bytes = 8 * 8 * 8 * 8;
  EXPECT_EQ(PioPattern(shape, 0).data_bytes(), 161U * 24 * 4096);
}

TEST(PioPattern, RandomLengthsHaveTheirMeanAndTheirBounds) {
  const PioShape shape = shape_of(PioKind::random_strided, 4, 1000);
  std::uint64_t bytes = 0;
  std::vector<int> seen(32);
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    const PioPattern pattern(shape, rank);
    for (std::uint64_t i = 0; i < pattern.pieces(); ++i) {
      const std::uint64_t length = pattern.piece(i).length_bytes;
      ASSERT_GE(length, 8U);
      ASSERT_LE(length, pattern.unit_bytes());
      ++seen.at(length / 8);
      bytes += length;
    }
  }
  EXPECT_EQ(bytes, 4000U * 80);
  for (std::size_t words = 2; words <= 18; ++words) EXPECT_GT(seen[words], 0) << words;
}

TEST(PioPattern, AMeshInDisorderHasTheSameVertices) {
  PioShape shape = shape_of(PioKind::mesh, 3, 40);
  shape.request_bytes = 64;
  shape.record_bytes = 16;
  List sorted = offsets(shape, 1);
  EXPECT_EQ(sorted.size(), 160U);
  EXPECT_TRUE(std::ranges::is_sorted(sorted));
  shape.sorted = false;
  List random = offsets(shape, 1);
  EXPECT_NE(random, sorted);
  std::ranges::sort(random);
  EXPECT_EQ(random, sorted);
}

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

TEST(PioPattern, ListedTransfersComeInTheirOrderOnTheirRanks) {
  PioShape shape = shape_of(PioKind::listed, 3, 1);
  shape.list = "2:100:7:3:50 0:0:1000:1:0 2:40:9:2:-40";
  EXPECT_EQ(offsets(shape, 2), (List{100, 150, 200, 40, 0}));
  EXPECT_EQ(offsets(shape, 1), (List{}));
  const PioPattern pattern(shape, 2);
  EXPECT_EQ(pattern.piece(3), (PioPiece{40, 9, 0}));
  EXPECT_EQ(pattern.unit_bytes(), 1000U);
  EXPECT_EQ(pattern.most_pieces(), 5U);
  EXPECT_EQ(pattern.file_bytes(), 1000U);
  EXPECT_EQ(pattern.data_bytes(), 3U * 7 + 1000 + 2 * 9);
  shape.kind = PioKind::listed_own;
  EXPECT_EQ(PioPattern(shape, 2).file_bytes(), 207U);
  EXPECT_EQ(PioPattern(shape, 1).file_bytes(), 0U);
}

TEST(PioPattern, WhatIsNoListHasNoTransfers) {
  EXPECT_EQ(pio_runs("0:0:8:1:0 1:8:8:1:0").size(), 2U);
  for (const char* list : {"0:0:8:1", "0:0:8:1:0:0", "x", "0:0:0:1:0", "0:-8:8:1:0", "0:0:8:0:0", "0:8:8:3:-8",
                           "0:0:8:1152921504606846976:8", "0:0:8:1:0  1:8:8:1:0", "0:0:8:1:9223372036854775807"})
    EXPECT_TRUE(pio_runs(list).empty()) << list;
}

}  // namespace ullage::pio_pattern_test
