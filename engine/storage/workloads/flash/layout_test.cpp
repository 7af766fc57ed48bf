// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/flash/layout.hpp"

#include <gtest/gtest.h>

namespace ullage {
namespace {

constexpr double mib = 1 << 20;

TEST(FlashLayout, BlocksAddUp) {
  for (const std::uint64_t given : {0U, 1U, 7U}) {
    std::uint64_t before = 0;
    for (std::uint64_t rank = 0; rank < 100; ++rank) {
      EXPECT_EQ(flash_blocks_before(given, rank), before);
      before += flash_blocks(given, rank);
    }
  }
  EXPECT_EQ(flash_blocks_before(0, 2), 161U);
  EXPECT_EQ(flash_blocks_before(0, 512), 41'471U);
}

/// What the benchmark's port to PnetCDF printed for 512 ranks, with 4-byte and, in an older version, 8-byte plots.
TEST(FlashLayout, SizesAreThoseThatWerePublished) {
  const auto size = [](FlashFile file, std::uint64_t real) {
    return static_cast<double>(FlashLayout{file, 16, real, 41'471}.data_bytes()) / mib;
  };
  EXPECT_NEAR(size(FlashFile::checkpoint, 4), 31'109.74, 0.01);
  EXPECT_NEAR(size(FlashFile::plot_centred, 4), 2'596.5, 0.1);
  EXPECT_NEAR(size(FlashFile::plot_corner, 4), 3'113.5, 0.1);
  EXPECT_NEAR(size(FlashFile::plot_centred, 8), 5'190.36, 0.01);
  EXPECT_NEAR(size(FlashFile::plot_corner, 8), 6'224.35, 0.01);
}

TEST(FlashLayout, SizesToTheByte) {
  const auto size = [](FlashFile file) { return FlashLayout{file, 8, 4, 161}.data_bytes(); };
  EXPECT_EQ(size(FlashFile::checkpoint), 161U * (24 * 512 * 8 + 164));
  EXPECT_EQ(size(FlashFile::plot_centred), 161U * (4 * 512 * 4 + 116));
  EXPECT_EQ(size(FlashFile::plot_corner), 161U * (4 * 729 * 4 + 116));
}

TEST(FlashLayout, ArraysLieOneBehindTheOther) {
  for (const auto file : {FlashFile::checkpoint, FlashFile::plot_centred, FlashFile::plot_corner}) {
    const FlashLayout layout{file, 8, 4, 161};
    const auto arrays = layout.arrays();
    const auto offsets = flash_offsets(arrays);
    std::uint64_t next = FlashLayout::header_bytes;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      EXPECT_EQ(offsets[i], next);
      next += arrays[i].size_bytes();
    }
    EXPECT_EQ(next, FlashLayout::header_bytes + layout.data_bytes());
    EXPECT_EQ(arrays.size(), FlashLayout::metadata_arrays + layout.unknowns().size());
    const std::string header = flash_header(arrays);
    EXPECT_EQ(header.size(), FlashLayout::header_bytes);
    for (const auto& name : layout.unknowns()) EXPECT_NE(header.find(" " + name + "\n"), std::string::npos);
    EXPECT_EQ(header.back(), '\0') << "the table does not fit";
  }
}

/// Sizes beyond 2 and 4 GiB, and a header that is long enough for them.
TEST(FlashLayout, LargeCountsDoNotWrap) {
  const FlashLayout layout{FlashFile::checkpoint, 16, 4, 40'000'000};
  EXPECT_EQ(layout.data_bytes(), 40'000'000ULL * (24 * 4096 * 8 + 164));
  EXPECT_GT(flash_offsets(layout.arrays()).back(), 1ULL << 40);
  EXPECT_EQ(flash_header(layout.arrays()).back(), '\0');
}

}  // namespace
}  // namespace ullage
