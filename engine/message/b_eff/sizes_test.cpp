// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ullage::b_eff_sizes_test {
namespace {

std::vector<std::uint64_t> from_4_kib(std::uint64_t lmax_bytes) {
  const auto sizes = b_eff_sizes(lmax_bytes);
  return {sizes.begin() + 12, sizes.end()};
}

TEST(BEffSizes, DoubleUpTo4KiB) {
  const auto sizes = b_eff_sizes(1 << 20);
  EXPECT_EQ(sizes.size(), 21U);
  for (std::size_t i = 0; i <= 12; ++i) EXPECT_EQ(sizes[i], 1U << i);
}

/// Published, for 128 MiB, 2 GiB and 16 MiB of memory a process.
TEST(BEffSizes, ThenInEqualRatiosAsInTheOriginal) {
  EXPECT_EQ(from_4_kib(1 << 20),
            (std::vector<std::uint64_t>{4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576}));
  EXPECT_EQ(from_4_kib(16 << 20),
            (std::vector<std::uint64_t>{4096, 11585, 32768, 92682, 262144, 741455, 2097152, 5931642, 16777216}));
  EXPECT_EQ(from_4_kib(128 << 10),
            (std::vector<std::uint64_t>{4096, 6317, 9742, 15024, 23170, 35734, 55109, 84990, 131072}));
}

TEST(BEffSizes, LastIsExactlyTheLongest) {
  for (const std::uint64_t lmax : {4096ULL, 5000ULL, 1048583ULL, 100'000'000ULL, 1ULL << 28U}) {
    EXPECT_EQ(b_eff_sizes(lmax).back(), lmax);
    EXPECT_TRUE(std::ranges::is_sorted(b_eff_sizes(lmax)));
  }
}

TEST(BEffSizes, GrowthIsTwoThenTheRatio) {
  EXPECT_EQ(b_eff_growth(16 << 20, 1), 2);
  EXPECT_EQ(b_eff_growth(16 << 20, 12), 2);
  EXPECT_NEAR(b_eff_growth(16 << 20, 13), 2.8284, 1e-4);
  EXPECT_NEAR(b_eff_growth(16 << 20, 20), 2.8284, 1e-4);
  EXPECT_EQ(b_eff_growth(4096, 20), 1);
}

}  // namespace
}  // namespace ullage::b_eff_sizes_test
