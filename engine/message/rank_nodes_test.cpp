// SPDX-License-Identifier: Apache-2.0
#include "message/rank_nodes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ullage::rank_nodes_test {
namespace {

TEST(MpiRankNodes, EveryRankKnowsEveryonesNode) {
  // Ranks 0 and 2 are on one host, 1 and 3 on another.
  const int rank = mpi::Comm::world().rank();
  const mpi::World world("host" + std::to_string(rank % 2));
  const auto nodes = nodes_by_rank(world);
  ASSERT_EQ(nodes.size(), static_cast<std::size_t>(world.size()));
  for (std::size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(nodes[i], i % 2);
}

TEST(RankNodes, AsFactsRanksAreKeys) {
  EXPECT_EQ(nodes_json({0, 1, 0}), Json::parse(R"({"0": 0, "1": 1, "2": 0})"));
  EXPECT_EQ(nodes_json({}), Json::object());
}

}  // namespace
}  // namespace ullage::rank_nodes_test
