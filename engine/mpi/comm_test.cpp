// SPDX-License-Identifier: Apache-2.0
#include "mpi/comm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/permutation.hpp"
#include "base/resources.hpp"
#include "base/test_support.hpp"

namespace ullage::mpi::comm_test {
namespace {

// One a test: a rank that is ahead must not reach into another's test.
constexpr int tag_ring = 7;
constexpr int tag_text = 8;
constexpr int tag_bytes = 9;
constexpr std::size_t long_text_bytes = std::size_t{200} << 20;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(MpiComm, ReductionsReachEveryRank) {
  const Comm world = Comm::world();
  const int ranks = world.size();
  const std::int64_t mine = 10 * (world.rank() + 1);
  EXPECT_EQ(world.min(mine), 10);
  EXPECT_EQ(world.max(mine), 10 * ranks);
  EXPECT_EQ(world.min(-mine), -10 * ranks);
  EXPECT_EQ(world.sum(static_cast<std::uint64_t>(mine)), static_cast<std::uint64_t>(5 * ranks * (ranks + 1)));
  EXPECT_EQ(world.sum_before(2), 2U * static_cast<unsigned>(world.rank()));
  EXPECT_TRUE(world.any(world.rank() == ranks - 1));
  EXPECT_FALSE(world.any(false));
  EXPECT_TRUE(world.all(true));
  EXPECT_FALSE(world.all(world.rank() != ranks - 1));
}

TEST(MpiComm, SumsAreUnsignedSixtyFourBits) {
  const Comm world = Comm::world();
  const std::uint64_t huge = std::uint64_t{1} << 61;
  EXPECT_EQ(world.sum(huge), huge * static_cast<unsigned>(world.size()));
}

TEST(MpiComm, LocationIsTheLowestRankAmongEquals) {
  const Comm world = Comm::world();
  const auto most = world.max_location(world.rank() == 0 ? -1 : std::int64_t{1} << 40);
  EXPECT_EQ(most.value, world.size() == 1 ? -1 : std::int64_t{1} << 40);
  EXPECT_EQ(most.rank, world.size() == 1 ? 0 : 1);
  const auto least = world.min_location(3);
  EXPECT_EQ(least.value, 3);
  EXPECT_EQ(least.rank, 0);
}

TEST(MpiComm, ElementWise) {
  const Comm world = Comm::world();
  const int ranks = world.size();
  std::array<std::int64_t, 2> bounds{world.rank(), -world.rank()};
  world.min_all(bounds);
  EXPECT_EQ(bounds, (std::array<std::int64_t, 2>{0, 1 - ranks}));
  bounds = {world.rank(), -world.rank()};
  world.max_all(bounds);
  EXPECT_EQ(bounds, (std::array<std::int64_t, 2>{ranks - 1, 0}));
  world.max_all(std::span<std::int64_t>{});
  std::array<double, 2> shares{0.5, -1.5 * world.rank()};
  world.min_all(shares);
  EXPECT_EQ(shares, (std::array<double, 2>{0.5, -1.5 * (ranks - 1)}));
  world.sum_all(shares);
  EXPECT_EQ(shares, (std::array<double, 2>{0.5 * ranks, -1.5 * (ranks - 1) * ranks}));
  shares[0] = world.rank();
  world.max_all(shares);
  EXPECT_EQ(shares[0], ranks - 1);

  const int root = ranks - 1;
  std::array<std::uint64_t, 3> counts{1, 2, static_cast<std::uint64_t>(world.rank())};
  const auto given = counts;
  world.sum_to_root(counts, root);
  const auto n = static_cast<std::uint64_t>(ranks);
  if (world.rank() == root) {
    EXPECT_EQ(counts, (std::array<std::uint64_t, 3>{n, 2 * n, n * (n - 1) / 2}));
  } else {
    EXPECT_EQ(counts, given);
  }
}

TEST(MpiComm, BroadcastOfAnyLength) {
  const Comm world = Comm::world();
  const int root = world.size() - 1;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3'000'000}}) {
    const std::string text =
        world.broadcast(world.rank() == root ? std::string(size, 'x') : std::string("overwritten"), root);
    EXPECT_EQ(text, std::string(size, 'x'));
  }
  EXPECT_EQ(world.broadcast(std::int64_t{world.rank()}, root), root);
}

TEST(MpiComm, MessagesToOneselfThroughARing) {
  const Comm world = Comm::world();
  const int next = (world.rank() + 1) % world.size();
  const int previous = (world.rank() + world.size() - 1) % world.size();
  const std::int64_t mine = world.rank();
  std::int64_t received = -1;
  world.exchange(std::as_bytes(std::span(&mine, 1)), next, std::as_writable_bytes(std::span(&received, 1)), previous,
                 tag_ring);
  EXPECT_EQ(received, previous);
}

TEST(MpiComm, TextFromAnybodyArrivesWhole) {
  const Comm world = Comm::world();
  if (world.rank() != 0) {
    world.send("rank " + std::to_string(world.rank()) + std::string(100'000, '.'), 0, tag_text);
    return;
  }
  std::vector<bool> seen(static_cast<std::size_t>(world.size()), false);
  for (int i = 1; i < world.size(); ++i) {
    const std::string text = world.receive_text(Comm::any_source, tag_text);
    const auto rank = static_cast<std::size_t>(std::stoi(text.substr(5)));
    EXPECT_FALSE(seen.at(rank));
    seen.at(rank) = true;
    EXPECT_TRUE(text.ends_with("..."));
  }
}

/// As long as no rank has room, none gets any of it; and all are together afterwards.
TEST(MpiComm, ALongTextThatOneRankHasNoRoomForThrowsOnAll) {
  if (!test::LittleMemory::can_be_had()) GTEST_SKIP() << "address space cannot be limited under this sanitizer";
  const Comm world = Comm::world();
  if (world.size() == 1) GTEST_SKIP() << "needs two ranks";
  const int guilty = world.size() - 1;
  std::string text(world.rank() == 0 ? long_text_bytes : 0, 'x');
  const Status sent = catch_resource_errors([&] -> Status {
    const test::LittleMemory little(world.rank() == guilty);
    text = world.broadcast(std::move(text), 0);
    return {};
  });
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().errno_value, ENOMEM);
  EXPECT_EQ(sent.error().is_of_another_rank, world.rank() != guilty);
  EXPECT_EQ(world.broadcast(std::string(5000, 'y'), 0), std::string(5000, 'y'));
}

TEST(MpiComm, WhoHasNoRoomForATextTakesItAllTheSame) {
  if (!test::LittleMemory::can_be_had()) GTEST_SKIP() << "address space cannot be limited under this sanitizer";
  const Comm world = Comm::world();
  if (world.size() == 1) GTEST_SKIP() << "needs two ranks";
  if (world.rank() == 1) {
    world.send(std::string(long_text_bytes, 'x'), 0, tag_text);
    world.send(std::string("next"), 0, tag_text);
  }
  if (world.rank() != 0) return;
  const Status received = catch_resource_errors([&] -> Status {
    const test::LittleMemory little(true);
    (void)world.receive_text(1, tag_text);
    return {};
  });
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().errno_value, ENOMEM);
  EXPECT_EQ(world.receive_text(1, tag_text), "next");
}

TEST(MpiComm, ReceiveNamesTheSender) {
  const Comm world = Comm::world();
  if (world.size() == 1) GTEST_SKIP() << "needs two ranks";
  if (world.rank() == 1) world.send(bytes_of("abc"), 0, tag_bytes);
  if (world.rank() == 0) {
    std::string text(3, '?');
    EXPECT_EQ(world.receive(std::as_writable_bytes(std::span(text)), Comm::any_source, tag_bytes), 1);
    EXPECT_EQ(text, "abc");
  }
}

TEST(MpiComm, SplitDuplicateAndMove) {
  const Comm world = Comm::world();
  Comm halves = world.split(world.rank() % 2, -world.rank());  // in descending order
  EXPECT_EQ(halves.size(), (world.size() + (world.rank() % 2 == 0 ? 1 : 0)) / 2);
  EXPECT_EQ(halves.broadcast(std::int64_t{world.rank()}, 0), halves.max(world.rank()));
  Comm moved = std::move(halves);
  moved.barrier();
  Comm copy = moved.duplicate();
  copy = world.duplicate();
  EXPECT_EQ(copy.size(), world.size());
  EXPECT_EQ(Comm::self().size(), 1);
}

TEST(MpiWorld, OneMachineIsOneNode) {
  const World world;
  const Topology& topology = world.topology();
  EXPECT_EQ(topology.nodes, 1);
  EXPECT_EQ(topology.node, 0);
  EXPECT_EQ(topology.rank_on_node, topology.rank);
  EXPECT_EQ(topology.ranks_on_node, topology.ranks);
  EXPECT_EQ(topology.most_ranks_on_a_node, topology.ranks);
  EXPECT_EQ(topology.fewest_ranks_on_a_node, topology.ranks);
  EXPECT_EQ(topology.leader(), world.root());
  EXPECT_FALSE(topology.node_name.empty());
  EXPECT_EQ(world.rank_on_other_node(1), -1);
}

TEST(MpiWorld, HostNamesMakeNodesInOrderOfTheirLowestRank) {
  const Comm all = Comm::world();
  const int rank = all.rank();
  const int ranks = all.size();
  const World world(rank == 1 || rank == 2 ? "a" : "b");  // the name that sorts first comes second
  const Topology& topology = world.topology();
  EXPECT_EQ(topology.nodes, ranks == 1 ? 1 : 2);
  EXPECT_EQ(topology.node, rank == 1 || rank == 2 ? 1 : 0);
  EXPECT_EQ(topology.rank_on_node, rank == 2 || rank == 3 ? 1 : 0);
  EXPECT_EQ(topology.most_ranks_on_a_node, ranks < 3 ? 1 : 2);
  EXPECT_EQ(topology.fewest_ranks_on_a_node, ranks == 4 ? 2 : 1);
  EXPECT_EQ(world.node().size(), topology.ranks_on_node);
}

TEST(MpiWorld, OtherNodesRankOfTheSamePlace) {
  const Comm all = Comm::world();
  const int rank = all.rank();
  const int ranks = all.size();
  if (ranks < 3) GTEST_SKIP() << "needs three ranks";
  const World world(rank == 1 ? "lonely" : "crowd");  // crowd: 0, 2 and perhaps 3
  const std::array<int, 4> one_further{1, 0, 1, 1};
  const auto place = static_cast<std::size_t>(rank);
  EXPECT_EQ(world.rank_on_other_node(1), one_further[place]);
  EXPECT_EQ(world.rank_on_other_node(-1), one_further[place]);
  EXPECT_EQ(world.rank_on_other_node(2), rank);
}

TEST(MpiWorld, HostsOfOneMachineShareItsKernel) {
  const World world(Comm::world().rank() == 0 ? "a" : "b");
  EXPECT_EQ(world.kernel().size(), world.size());
  EXPECT_EQ(world.kernel().rank(), world.rank());
}

TEST(MpiComm, SplitByText) {
  const Comm world = Comm::world();
  const Comm alike = world.split_by_text(world.rank() == 1 ? "one" : "others");
  EXPECT_EQ(alike.size(), world.rank() == 1 ? 1 : std::max(1, world.size() - 1));
  EXPECT_EQ(alike.min(world.rank()), world.rank() == 1 ? 1 : 0);
}

TEST(MpiWorld, EveryRankAHost) {
  const Comm all = Comm::world();
  const World world("host-" + std::to_string(all.rank()));
  EXPECT_EQ(world.topology().nodes, all.size());
  EXPECT_EQ(world.topology().node, all.rank());
  EXPECT_EQ(world.rank_on_other_node(1), all.size() == 1 ? -1 : (all.rank() + 1) % all.size());
  EXPECT_EQ(world.rank_on_other_node(all.size() + 2), all.size() == 1 ? -1 : (all.rank() + 2) % all.size());
}

TEST(MpiHost, RanksOfOneMachineAgree) {
  const Comm world = Comm::world();
  EXPECT_FALSE(host_name().empty());
  EXPECT_EQ(world.broadcast(host_name(), 0), host_name());
  EXPECT_EQ(world.broadcast(kernel_identity(), 0), kernel_identity());
}

TEST(StableHash, IsFnv1aAndNotNegative) {
  static_assert(stable_hash("") == 0x4bf29ce484222324);  // published: cbf29ce484222325, folded
  static_assert(stable_hash("a") != stable_hash("b"));
  for (int i = 0; i < 1000; ++i) EXPECT_GE(stable_hash(std::to_string(i)), 0);
}

}  // namespace
}  // namespace ullage::mpi::comm_test
