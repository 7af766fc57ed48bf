// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/pairing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace ullage::pairing_test {
namespace {

mpi::Topology on_one_node(int rank, int ranks) {
  mpi::Topology topology;
  topology.rank = topology.rank_on_node = rank;
  topology.ranks = topology.ranks_on_node = topology.fewest_ranks_on_a_node = ranks;
  return topology;
}

TEST(Pairing, NeighboursOnOneNode) {
  EXPECT_EQ(pair_of(on_one_node(0, 4), -1, -1).peer, 1);
  EXPECT_EQ(pair_of(on_one_node(3, 4), -1, -1).peer, 2);
  EXPECT_TRUE(pair_of(on_one_node(2, 4), -1, -1).is_first);
  EXPECT_FALSE(pair_of(on_one_node(3, 4), -1, -1).is_first);
  EXPECT_TRUE(pair_of(on_one_node(3, 4), -1, -1).same_host);
  EXPECT_FALSE(pair_of(on_one_node(2, 3), -1, -1).takes_part());
  EXPECT_FALSE(pair_of(on_one_node(0, 1), -1, -1).takes_part());
}

TEST(Pairing, TheSamePlaceOnTheNodeBeside) {
  mpi::Topology topology;
  topology.ranks = 6;
  topology.nodes = 3;
  topology.fewest_ranks_on_a_node = 2;
  topology.rank = 1;
  topology.rank_on_node = 1;
  const Pairing first = pair_of(topology, 3, 5);
  EXPECT_EQ(first.peer, 3);
  EXPECT_TRUE(first.is_first);
  EXPECT_FALSE(first.same_host);
  topology.rank = 3;
  topology.node = 1;
  EXPECT_EQ(pair_of(topology, 5, 1).peer, 1);
  EXPECT_FALSE(pair_of(topology, 5, 1).is_first);
  topology.rank = 5;
  topology.node = 2;
  EXPECT_FALSE(pair_of(topology, 1, 3).takes_part());
}

TEST(Pairing, APlaceThatNotEveryNodeHasTakesNoPart) {
  mpi::Topology topology;
  topology.ranks = 3;
  topology.nodes = 2;
  topology.rank = topology.rank_on_node = 1;
  topology.fewest_ranks_on_a_node = 1;
  EXPECT_FALSE(pair_of(topology, 2, 2).takes_part());
}

TEST(MpiPairing, PeersAgreeAlsoBetweenNodes) {
  const mpi::World real;
  for (const int on_a_node : {1, 2, 4}) {
    const mpi::World world("host" + std::to_string(real.rank() / on_a_node));
    const Pairing mine = pair_up(world);
    const bool whole = world.topology().nodes == 1 || world.size() % (2 * on_a_node) == 0;
    if (whole && world.size() % 2 == 0) {
      EXPECT_TRUE(mine.takes_part());
    }
    if (!mine.takes_part()) continue;
    std::array<int, 1> out{world.rank()};
    std::array<int, 1> in{-1};
    world.all().exchange(std::as_bytes(std::span(out)), mine.peer, std::as_writable_bytes(std::span(in)), mine.peer, 7);
    EXPECT_EQ(in[0], mine.peer);
    EXPECT_EQ(mine.is_first, world.rank() < mine.peer);
    EXPECT_EQ(mine.same_host, world.topology().nodes == 1);
  }
}

}  // namespace
}  // namespace ullage::pairing_test
