// SPDX-License-Identifier: Apache-2.0
#include "base/zipf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ullage::zipf_test {

std::vector<double> shares(const Zipf& zipf, std::uint64_t draws) {
  std::vector<double> share(zipf.items());
  for (std::uint64_t i = 0; i < draws; ++i) share[zipf(mix64(i))] += 1.0 / static_cast<double>(draws);
  return share;
}

TEST(Zipf, OneItemIsAlwaysThatOne) {
  for (const double theta : {0.0, 1.0, 3.0})
    for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(Zipf(1, theta)(key), 0U);
}

TEST(Zipf, WithoutSkewAllAreAlike) {
  for (const double share : shares(Zipf(4, 0), 100'000)) EXPECT_NEAR(share, 0.25, 0.01);
}

TEST(Zipf, HarmonicSharesAtThetaOne) {
  const auto share = shares(Zipf(3, 1), 100'000);  // 1 : 1/2 : 1/3
  EXPECT_NEAR(share[0], 6.0 / 11, 0.01);
  EXPECT_NEAR(share[1], 3.0 / 11, 0.01);
  EXPECT_NEAR(share[2], 2.0 / 11, 0.01);
}

TEST(Zipf, IsAFunctionOfItsKey) {
  const Zipf zipf(1000, 0.9);
  std::uint64_t differing = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    EXPECT_EQ(zipf(key), Zipf(1000, 0.9)(key));
    differing += zipf(key) != zipf(key + 1);
  }
  EXPECT_GT(differing, 500U);
}

TEST(Zipf, ReachesFarIntoVeryManyItems) {
  constexpr std::uint64_t items = std::uint64_t{1} << 50;
  const Zipf zipf(items, 0.5);
  std::uint64_t furthest = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t item = zipf(mix64(i));
    ASSERT_LT(item, items);
    furthest = std::max(furthest, item);
  }
  EXPECT_GT(furthest, items / 2);
}

}  // namespace ullage::zipf_test
