// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/segment.hpp"

#include <gtest/gtest.h>

namespace ullage::b_eff_io_segment_test {
namespace {

constexpr std::uint64_t k = 1024;
constexpr std::uint64_t M = k * k;

BEffIoCounts counts(const std::array<std::uint64_t, 7>& values) {
  BEffIoCounts counts;
  for (std::size_t i = 0; i < values.size(); ++i) counts[b_eff_io_counted_sizes[i]] = values[i];
  return counts;
}

TEST(BEffIoSegment, LeastOfTheThreeTypesInBytesOfAChunk) {
  // Lmax, 1M, 32k, 1k, 32k+8, 1k+8, 1M+8
  const BEffIoFirstWrites made{counts({9, 9, 2, 1, 3, 2, 9}), counts({1, 9, 9, 300, 9, 9, 9}),
                               counts({40, 7, 99, 5000, 80, 3000, 5})};
  const BEffIoSegment segment = b_eff_io_segment(2 * M, made, {});
  const BEffIoCounts expected = counts({9, 7, 64, 1024, 80, 90, 5});
  for (const auto& [size, count] : expected) EXPECT_EQ(segment.counts.at(size), count) << word_of(size);
  EXPECT_EQ(segment.counts.at(BEffIoSize::first), 1U);
  const std::uint64_t taken =
      M + 9 * 2 * M + 7 * M + 64 * 32 * k + 1024 * k + 80 * (32 * k + 8) + 90 * (k + 8) + 5 * (M + 8);
  EXPECT_EQ(segment.bytes, 37 * M);
  EXPECT_EQ(segment.fill_up_bytes, 37 * M - taken);
  EXPECT_EQ(segment.counts.at(BEffIoSize::fill_up), 1U);
}

TEST(BEffIoSegment, NoFillUpWhereNothingIsLeft) {
  const BEffIoFirstWrites made{counts({1, 2, 1, 1, 0, 0, 0}), counts({1, 1, 9, 900, 0, 0, 0}),
                               counts({3, 2, 32, 1024, 0, 0, 0})};
  const BEffIoSegment segment = b_eff_io_segment(2 * M, made, {});
  EXPECT_EQ(segment.bytes, (1 + 2 + 2 + 1 + 1) * M);
  EXPECT_EQ(segment.fill_up_bytes, 0U);
  EXPECT_EQ(segment.counts.at(BEffIoSize::fill_up), 0U);
}

TEST(BEffIoSegment, WhatIsMissingIsLeftOutOfTheLeast) {
  BEffIoFirstWrites made;
  EXPECT_FALSE(made.any());
  made.shared = counts({1, 2, 3, 4, 5, 6, 7});
  made.shared->erase(BEffIoSize::kib1);
  EXPECT_TRUE(made.any());
  EXPECT_EQ(b_eff_io_segment(2 * M, made, {}).counts.at(BEffIoSize::lmax), 10U);
  EXPECT_EQ(b_eff_io_segment(2 * M, made, {}).counts.at(BEffIoSize::kib1), 0U) << "nobody did that size";
  made.separated = counts({3, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(b_eff_io_segment(2 * M, made, {}).counts.at(BEffIoSize::lmax), 3U);
  EXPECT_EQ(b_eff_io_segment(2 * M, made, {}).counts.at(BEffIoSize::kib1), 4U);
}

TEST(BEffIoSegment, RoomLimitsIt) {
  BEffIoFirstWrites made;
  made.shared = counts({1, 1, 1, 1, 1, 1, 1});
  const BEffIoSegment segment = b_eff_io_segment(2 * M, made, {{BEffIoSize::lmax, 4}, {BEffIoSize::mib, 40}});
  EXPECT_EQ(segment.counts.at(BEffIoSize::lmax), 4U);
  EXPECT_EQ(segment.counts.at(BEffIoSize::mib), 10U);
}

}  // namespace
}  // namespace ullage::b_eff_io_segment_test
