// SPDX-License-Identifier: Apache-2.0
#include "storage/node_memory.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::node_memory_test {

TEST(NodeMemory, HoldsWhatItIsGivenUnderItsName) {
  const mpi::World world;
  const auto memory = NodeMemory::make(world.self());
  ASSERT_TRUE(memory) << test::line_of(memory);
  const auto made = memory->create("d/a", 10'000);
  ASSERT_TRUE(made) << test::line_of(made);
  ASSERT_EQ(made->bytes().size(), 10'000U);
  EXPECT_TRUE(std::ranges::all_of(made->bytes(), [](std::byte b) { return b == std::byte{0}; }));
  made->bytes().back() = std::byte{'y'};
  const auto other = memory->create("d/b", 5'000'000);
  ASSERT_TRUE(other);
  std::ranges::fill(other->bytes(), std::byte{'b'});
  const auto again = memory->open("d/a");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->bytes().back(), std::byte{'y'});
}

TEST(NodeMemory, NamesThatAreTakenAbsentOrTooLongAreErrors) {
  const mpi::World world;
  const auto memory = NodeMemory::make(world.self());
  ASSERT_TRUE(memory);
  ASSERT_TRUE(memory->create("a", 1));
  EXPECT_EQ(memory->create("a", 1).error().errno_value, EEXIST);
  EXPECT_EQ(memory->open("b").error().errno_value, ENOENT);
  EXPECT_EQ(memory->remove("b").error().errno_value, ENOENT);
  EXPECT_EQ(memory->create("", 1).error().errno_value, ENAMETOOLONG);
  EXPECT_EQ(memory->create(std::string(NodeMemory::longest_name + 1, 'n'), 1).error().errno_value, ENAMETOOLONG);
  EXPECT_TRUE(memory->create(std::string(NodeMemory::longest_name, 'n'), 1));
}

/// A name that comes again has zeros, whatever was there.
TEST(NodeMemory, WhatIsRemovedIsGone) {
  const mpi::World world;
  const auto memory = NodeMemory::make(world.self());
  ASSERT_TRUE(memory);
  for (int turn = 0; turn < 3; ++turn) {
    const auto made = memory->create("a", 1 << 20);
    ASSERT_TRUE(made) << test::line_of(made);
    EXPECT_TRUE(std::ranges::all_of(made->bytes(), [](std::byte b) { return b == std::byte{0}; }));
    std::ranges::fill(made->bytes(), std::byte{'x'});
    EXPECT_TRUE(memory->remove("a"));
    EXPECT_EQ(memory->open("a").error().errno_value, ENOENT);
  }
}

TEST(NodeMemory, UsesTheEntryOfARemovedNameAgain) {
  const mpi::World world;
  const auto memory = NodeMemory::make(world.self());
  ASSERT_TRUE(memory);
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(memory->create(std::to_string(i), 1));
  EXPECT_TRUE(memory->remove("1"));
  EXPECT_TRUE(memory->create("3", 1));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(memory->open(std::to_string(i)).has_value(), i != 1);
}

TEST(MpiNodeMemory, RanksSeeWhatOthersHaveMade) {
  const mpi::World world;
  const auto memory = NodeMemory::make(world.node());
  ASSERT_TRUE(memory) << test::line_of(memory);
  const mpi::Topology& topology = world.topology();
  const auto own = memory->create("rank." + std::to_string(topology.rank_on_node), 4096);
  ASSERT_TRUE(own) << test::line_of(own);
  std::ranges::fill(own->bytes(), static_cast<std::byte>('a' + topology.rank_on_node));
  world.node().barrier();
  for (int rank = 0; rank < topology.ranks_on_node; ++rank) {
    const auto other = memory->open("rank." + std::to_string(rank));
    ASSERT_TRUE(other) << test::line_of(other);
    EXPECT_EQ(std::ranges::count(other->bytes(), static_cast<std::byte>('a' + rank)), 4096);
  }
  world.node().barrier();
}

}  // namespace ullage::node_memory_test
