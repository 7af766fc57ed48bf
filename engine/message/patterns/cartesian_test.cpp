// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/cartesian.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "message/patterns/test_support.hpp"

namespace ullage::cartesian_test {
namespace {

TEST(Cartesian, ExtentsAreAsEqualAsFactorsAllow) {
  EXPECT_EQ(balanced_extents(12, 2), (std::vector{4, 3}));
  EXPECT_EQ(balanced_extents(12, 3), (std::vector{3, 2, 2}));
  EXPECT_EQ(balanced_extents(24, 3), (std::vector{4, 3, 2}));
  EXPECT_EQ(balanced_extents(64, 3), (std::vector{4, 4, 4}));
  EXPECT_EQ(balanced_extents(7, 2), (std::vector{7, 1}));
  EXPECT_EQ(balanced_extents(6, 3), (std::vector{3, 2, 1}));
  EXPECT_EQ(balanced_extents(1, 2), (std::vector{1, 1}));
  EXPECT_EQ(balanced_extents(1000, 3), (std::vector{10, 10, 10}));
}

TEST(Cartesian, RanksThatMakeNoGridAreLeftOut) {
  const std::vector<std::pair<int, std::pair<int, int>>> golden{
      {2, {2, 2}}, {3, {3, 3}}, {4, {4, 4}},   {5, {4, 4}},    {6, {6, 6}},      {7, {6, 6}},
      {8, {8, 8}}, {9, {9, 8}}, {11, {10, 8}}, {13, {12, 12}}, {127, {126, 126}}};
  for (const auto& [ranks, used] : golden) {
    EXPECT_EQ(grid_ranks(ranks, 2), used.first) << ranks;
    EXPECT_EQ(grid_ranks(ranks, 3), used.second) << ranks;
  }
}

TEST(Cartesian, HaloHasAMessageEachWayForEachNeighbour) {
  // Twice the sum over the dimensions of (extent - 1) n / extent.
  EXPECT_EQ(test::messages_of(halo("a", 12, 2, false)), 2U * (9 + 8));
  EXPECT_EQ(test::messages_of(halo("a", 24, 3, false)), 2U * (18 + 16 + 12));
  EXPECT_EQ(test::messages_of(halo("c", 27, 3, true)), 6U * 27);
  EXPECT_EQ(test::messages_of(halo("c", 24, 3, true)),
            5U * 24);  // both neighbours along the extent of two are the same
  EXPECT_EQ(test::messages_of(halo_along("x", 27, 3, 0)), 2U * 27);
}

TEST(Cartesian, LeftOutRanksHaveNoSteps) {
  const Pattern torus = halo("c", 5, 2, true);
  EXPECT_EQ(places_of(torus), 4);
  EXPECT_TRUE(steps_of(torus, 4).empty());
  EXPECT_EQ(steps_of(torus, 0).size(), 2U);
}

TEST(Cartesian, AlongOneDimensionNeighboursDifferInItOnly) {
  const auto along_x = steps_of(halo_along("x", 12, 2, 0), 0);
  EXPECT_EQ(along_x, (std::vector<mpi::MessageStep>{{3, 9, 0}, {9, 3, 1}}));
  const auto along_y = steps_of(halo_along("y", 12, 2, 1), 0);
  EXPECT_EQ(along_y, (std::vector<mpi::MessageStep>{{1, 2, 0}, {2, 1, 1}}));
}

}  // namespace
}  // namespace ullage::cartesian_test
