// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_sizes.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ullage::sample_sizes_test {
namespace {

TEST(SampleSizes, WithoutDeviationAllAreTheMeanInUnits) {
  const SampleSizes sizes({.mean_bytes = 114660, .deviation_bytes = 0, .unit_bytes = 8, .seed = 1});
  EXPECT_EQ(sizes.bytes(0), 114664U);
  EXPECT_EQ(sizes.bytes(123456), 114664U);
  EXPECT_EQ(sizes.most_bytes(10), 10U * 114664);
}

TEST(SampleSizes, HaveTheMeanAndTheDeviationOfThePreset) {
  constexpr std::uint64_t count = 20000;
  const SampleSizes sizes({.mean_bytes = 2828486, .deviation_bytes = 71311, .unit_bytes = 8, .seed = 7});
  double sum = 0;
  double squares = 0;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto size = static_cast<double>(sizes.bytes(i));
    ASSERT_LE(sizes.bytes(i), sizes.largest());
    total += sizes.bytes(i);
    sum += size;
    squares += size * size;
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 2828486, 5 * 71311 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 71311, 71311 * 0.04);
  EXPECT_LE(total, sizes.most_bytes(count));
}

TEST(SampleSizes, OfADeviationNearTheMeanStayPositiveAroundIt) {
  constexpr std::uint64_t count = 20000;
  const SampleSizes sizes({.mean_bytes = 146600628, .deviation_bytes = 68341808, .unit_bytes = 4096, .seed = 1});
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(sizes.bytes(i) % 4096, 0U);
    ASSERT_GE(sizes.bytes(i), 146600628U / 16 - 4096);
    ASSERT_LE(sizes.bytes(i), sizes.largest());
    sum += static_cast<double>(sizes.bytes(i));
  }
  EXPECT_NEAR(sum / count, 146600628, 5 * 68341808 / std::sqrt(count));
}

TEST(SampleSizes, FollowFromTheSeed) {
  const SampleSizeSpec spec{.mean_bytes = 100000, .deviation_bytes = 20000, .unit_bytes = 8, .seed = 1};
  SampleSizeSpec other = spec;
  other.seed = 2;
  int alike = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(SampleSizes(spec).bytes(i), SampleSizes(spec).bytes(i));
    alike += SampleSizes(spec).bytes(i) == SampleSizes(other).bytes(i) ? 1 : 0;
  }
  EXPECT_LT(alike, 10);
}

}  // namespace
}  // namespace ullage::sample_sizes_test
