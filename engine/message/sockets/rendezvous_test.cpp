// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/rendezvous.hpp"

#include <gtest/gtest.h>

#include "message/sockets/test_support.hpp"

namespace ullage::rendezvous_test {

class MpiRendezvous : public ::testing::Test {
 protected:
  MpiRendezvous() : pairing_(pair_up(world_)) {}
  [[nodiscard]] bool takes_part() const { return pairing_.takes_part() && pairing_.same_host; }

  mpi::World world_;
  Pairing pairing_;
};

/// A number goes to the other side and comes back as theirs.
void expect_joined(const Socket& socket, bool is_first, std::uint8_t number) {
  const std::array mine{static_cast<std::byte>(is_first ? number : number + 100)};
  std::array<std::byte, 1> theirs{};
  ASSERT_TRUE(send_until(socket, mine, test::soon_ns()));
  ASSERT_TRUE(receive_until(socket, theirs, test::soon_ns()));
  EXPECT_EQ(static_cast<int>(theirs[0]), is_first ? number + 100 : number);
}

TEST_F(MpiRendezvous, EachStreamMeetsItsOwn) {
  if (!takes_part()) return;
  for (const SocketProtocol protocol : {SocketProtocol::tcp, SocketProtocol::udp}) {
    SocketsParameters p;
    p.protocol = protocol;
    p.streams = 3;
    const auto met = meet(world_.all(), pairing_, p, 42);
    ASSERT_TRUE(met) << to_line(met.error());
    ASSERT_EQ(met->streams.size(), 3U);
    expect_joined(met->control, pairing_.is_first, 50);
    for (std::uint8_t i = 0; i < 3; ++i) expect_joined(met->streams[i], pairing_.is_first, i);
    EXPECT_TRUE(met->link.mine.loopback);
    EXPECT_EQ(met->link.theirs.address, "127.0.0.1");
  }
}

TEST_F(MpiRendezvous, EchoesNeedTheControlAlone) {
  if (!takes_part()) return;
  SocketsParameters p;
  p.protocol = SocketProtocol::icmp;
  const auto met = meet(world_.all(), pairing_, p, 42);
  ASSERT_TRUE(met);
  EXPECT_TRUE(met->streams.empty());
  expect_joined(met->control, pairing_.is_first, 9);
}

TEST_F(MpiRendezvous, AnInterfaceThatOneSideLacksFailsOnBoth) {
  if (!takes_part()) return;
  SocketsParameters p;
  if (pairing_.is_first) p.interface = "no-such-if";
  const auto met = meet(world_.all(), pairing_, p, 42);
  ASSERT_FALSE(met);
  const std::string line = to_line(met.error());
  EXPECT_NE(line.find("no-such-if"), std::string::npos);
  if (!pairing_.is_first) {
    EXPECT_NE(line.find("rank " + std::to_string(pairing_.peer)), std::string::npos) << line;
  }
}

TEST_F(MpiRendezvous, AStrangerIsTurnedAway) {
  if (!takes_part()) return;
  SocketsParameters p;
  p.patience_s = 0.2;
  // The two do not know each other's key: to each the other is a stranger.
  const auto met = meet(world_.all(), pairing_, p, pairing_.is_first ? 1 : 2);
  if (!pairing_.is_first) {
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().kind, ErrorKind::timeout);
  }
}

TEST_F(MpiRendezvous, WhatIsSwappedIsTheOthers) {
  if (!takes_part()) return;
  const auto theirs = swap_with_peer(world_.all(), pairing_, Json{{"rank", world_.rank()}});
  ASSERT_TRUE(theirs);
  EXPECT_EQ((*theirs)["rank"], pairing_.peer);
}

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

}  // namespace ullage::rendezvous_test
