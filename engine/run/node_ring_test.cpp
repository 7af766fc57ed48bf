// SPDX-License-Identifier: Apache-2.0
#include "run/node_ring.hpp"

#include <gtest/gtest.h>

namespace ullage::node_ring_test {

constexpr std::int64_t look_ns = 400'000'000;
constexpr std::int64_t limit_ns = 10 * look_ns;

bool has_network() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  bool found = false;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next)
    found = found || (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET &&
                      (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0);
  freeifaddrs(list);
  return found;
}

std::string own_node() {
  const mpi::Comm world = mpi::Comm::world();
  return "node" + std::to_string(world.rank());
}

/// Every rank is a node of its own.
class MpiNodeRing : public ::testing::Test {
 protected:
  std::optional<NodeRing::Neighbour> look(int looks) {
    std::optional<NodeRing::Neighbour> silent;
    for (int i = 0; i < looks && !silent; ++i) silent = ring_.silent_node(now_ns_ += look_ns, limit_ns);
    return silent;
  }
  /// Waits until the neighbour was heard of; datagrams on one machine are there within milliseconds.
  void hear() {
    for (int i = 0; i < 1000 && !ring_.heard(); ++i) {
      ring_.send();
      (void)ring_.silent_node(now_ns_ += 1, limit_ns);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ring_.send();
    world_.all().barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    (void)ring_.silent_node(now_ns_ += 1, limit_ns);
    world_.all().barrier();
  }

  mpi::World world_{own_node()};
  NodeRing ring_{world_};
  std::int64_t now_ns_ = 1;
};

TEST_F(MpiNodeRing, ANodeThatWasNeverHeardOfIsNotSilent) {
  if (world_.size() > 1 && has_network()) GTEST_SKIP() << "each node is heard of from its first moment on";
  EXPECT_FALSE(look(100));
  EXPECT_FALSE(ring_.heard());
}

TEST_F(MpiNodeRing, ANodeThatHangsFromItsFirstMomentIsNamed) {
  if (world_.size() == 1 || !has_network()) GTEST_SKIP() << "not available: another node";
  world_.all().barrier();  // all rings are there, and nobody sends any more
  EXPECT_TRUE(look(20));
  EXPECT_TRUE(ring_.heard());
  world_.all().barrier();
}

TEST_F(MpiNodeRing, ANodeThatIsHeardOfNoMoreIsNamed) {
  if (world_.size() == 1) GTEST_SKIP() << "one node";
  if (!has_network()) GTEST_SKIP() << "not available: a network interface that is up and no loopback";
  hear();
  ASSERT_TRUE(world_.all().all(ring_.heard()));
  EXPECT_FALSE(look(5)) << "not for so long";
  const auto silent = look(20);
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->rank, (world_.rank() + world_.size() - 1) % world_.size());
  EXPECT_EQ(silent->node, "node" + std::to_string(silent->rank));
  world_.all().barrier();
}

TEST_F(MpiNodeRing, AMachineThatStoodStillIsNoSilence) {
  if (world_.size() == 1 || !has_network()) GTEST_SKIP() << "not available: another node";
  hear();
  now_ns_ += 100 * limit_ns;
  EXPECT_FALSE(look(5)) << "one look counts half a second at most";
}

/// Once node 0 passes a request on it reaches every node, by the nodes above it.
TEST_F(MpiNodeRing, ARequestToStopReachesAllNodesByTheTree) {
  if (world_.size() == 1 || !has_network()) GTEST_SKIP() << "not available: another node";
  world_.all().barrier();
  EXPECT_FALSE(ring_.told_to_stop()) << "nobody has asked";
  bool is_told = world_.root();
  if (is_told) ring_.pass_stop();
  for (int i = 0; i < 1000 && !world_.all().all(is_told); ++i) {
    ring_.send();
    (void)ring_.silent_node(now_ns_ += 1, limit_ns);
    if (ring_.told_to_stop()) {
      is_told = true;
      ring_.pass_stop();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(is_told);
  EXPECT_EQ(ring_.told_to_stop(), !world_.root());
  EXPECT_LT(ring_.parent_silent_ns(), limit_ns);
}

TEST_F(MpiNodeRing, TheNodeAboveIsSilentWhenItSendsNothing) {
  if (world_.size() == 1 || !has_network()) GTEST_SKIP() << "not available: another node";
  hear();
  (void)look(20);
  EXPECT_EQ(ring_.parent_silent_ns() >= limit_ns / 2, !world_.root()) << "node 0 has none above";
  world_.all().barrier();
}

TEST(NodeTree, EveryNodeButTheFirstIsTheChildOfOneThatComesBefore) {
  for (const int nodes : {1, 2, 5, 6, 21, 22, 1000}) {
    const NodeTree tree{nodes};
    std::vector<int> parents(static_cast<std::size_t>(nodes), -1);
    for (int node = 0; node < nodes; ++node)
      for (int i = 0; i < tree.children(node); ++i) {
        int& parent = parents.at(static_cast<std::size_t>(tree.first_child(node) + i));
        EXPECT_EQ(parent, -1) << "a second one of " << tree.first_child(node) + i;
        parent = node;
      }
    for (int node = 0; node < nodes; ++node) {
      EXPECT_EQ(parents[static_cast<std::size_t>(node)], tree.parent(node));
      EXPECT_LT(tree.parent(node), std::max(node, 1));
    }
  }
}

TEST(NodeTree, TenThousandNodesAreSevenStepsAway) {
  const NodeTree tree{10'000};
  int steps = 0;
  for (int node = tree.nodes - 1; node > 0; node = tree.parent(node)) ++steps;
  EXPECT_EQ(steps, 7);
}

}  // namespace ullage::node_ring_test
