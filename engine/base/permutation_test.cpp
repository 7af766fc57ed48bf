// SPDX-License-Identifier: Apache-2.0
#include "base/permutation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace ullage::permutation_test {

/// First outputs of SplitMix64 seeded with 0, as published with it.
TEST(Mix64, IsSplitMix64) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
  EXPECT_EQ(unmix64(0xe220a8397b1dcdafULL), 0U);
}

TEST(Permutation, TinySizes) {
  EXPECT_EQ(Permutation(1, 9)(0), 0U);
  for (const std::uint64_t size : {2, 3, 4, 5}) {
    const Permutation permutation(size, 3);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < size; ++i) seen.insert(permutation(i));
    EXPECT_EQ(seen.size(), size);
    EXPECT_LT(*seen.rbegin(), size);
  }
}

TEST(Permutation, HugeSizesStayInside) {
  const std::uint64_t size = (std::uint64_t{1} << 62) + 1;
  const Permutation permutation(size, 3);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_LT(permutation(i * 4'000'000'000'000'000ULL % size), size);
}

/// Runs of successive positions would turn random access into a sequential one.
TEST(Permutation, LooksRandom) {
  constexpr std::uint64_t size = 10'000;
  const Permutation permutation(size, 1);
  std::uint64_t successors = 0;
  double distance = 0;
  for (std::uint64_t i = 0; i + 1 < size; ++i) {
    const auto here = static_cast<double>(permutation(i));
    const auto next = static_cast<double>(permutation(i + 1));
    successors += next - here == 1;
    distance += std::abs(next - here) / size;
  }
  EXPECT_LT(successors, 12U);                         // expected 1
  EXPECT_NEAR(distance / (size - 1), 1.0 / 3, 0.02);  // mean distance of two uniform positions
}

}  // namespace ullage::permutation_test
