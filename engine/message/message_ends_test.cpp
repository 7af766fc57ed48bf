// SPDX-License-Identifier: Apache-2.0
#include "message/message_ends.hpp"

#include <gtest/gtest.h>

namespace ullage::message_ends_test {
namespace {

constexpr std::uint64_t key = 12345;

/// Each rank sends to the next; a rank alone to itself.
class MpiMessageEnds : public ::testing::Test {
 protected:
  [[nodiscard]] mpi::MessageLoop loop(std::size_t length) {
    const int next = (world_.rank() + 1) % world_.size();
    const int before = (world_.rank() + world_.size() - 1) % world_.size();
    return {world_, {{next, before, 0}}, mpi::MessageMethod::sendrecv, length, out_, in_};
  }
  [[nodiscard]] MessageEnds ends(std::uint64_t of_key = key) {
    MessageEnds made(of_key, world_.rank());
    made.fill(out_bytes_);
    return made;
  }

  mpi::Comm world_ = mpi::Comm::world();
  std::vector<std::byte> out_bytes_ = std::vector<std::byte>(512);
  std::vector<std::byte> in_bytes_ = std::vector<std::byte>(512);
  mpi::RotatingBuffer out_{out_bytes_};
  mpi::RotatingBuffer in_{in_bytes_};
};

TEST_F(MpiMessageEnds, WhatArrivesIsRightHoweverLong) {
  MessageEnds found = ends();
  std::uint64_t number = 0;
  for (const std::size_t length : {1U, 2U, 3U, 7U, 8U, 9U, 15U, 16U, 17U, 100U}) {
    mpi::MessageLoop messages = loop(length);
    messages.run(3);
    found.look(messages, "ring");
    found.exchange_fresh(messages, number++, "ring");
    messages.run(1);
    found.look(messages, "ring");
  }
  EXPECT_EQ(found.found().bad_blocks, 0U);
  EXPECT_FALSE(found.found().first.has_value());
  // Twice two bytes; up to 16 of each length.
  EXPECT_EQ(found.found().verified_bytes, 10U * 4 + 1 + 2 + 3 + 7 + 8 + 9 + 15 + 3 * 16);
}

TEST_F(MpiMessageEnds, EitherEndThatIsWrongIsFound) {
  for (const std::size_t at : {0U, 99U}) {
    MessageEnds found = ends();
    mpi::MessageLoop messages = loop(100);
    in_ = mpi::RotatingBuffer(in_.bytes());
    messages.run(1);
    in_bytes_[at] ^= std::byte{0x10};
    found.look(messages, "ring 3 by sendrecv");
    EXPECT_EQ(found.found().bad_blocks, 1U);
    ASSERT_TRUE(found.found().first.has_value());
    EXPECT_EQ(found.found().first->kind, ErrorKind::verification);
    EXPECT_NE(to_line(*found.found().first).find("ring 3 by sendrecv, 100 bytes from rank"), std::string::npos);
    EXPECT_NE(found.found().first->expected, found.found().first->found);
  }
}

TEST_F(MpiMessageEnds, WhatNobodySentIsFound) {
  MessageEnds found(key, world_.rank());
  mpi::MessageLoop messages = loop(10);
  messages.run(1);  // of zeros: no rank's byte
  found.look(messages, "ring");
  EXPECT_EQ(found.found().bad_blocks, 2U);
  EXPECT_EQ(found.found().first->found, "00");
}

TEST_F(MpiMessageEnds, FreshMessagesTellWhenTheyAreOf) {
  MessageEnds found = ends();
  mpi::MessageLoop messages = loop(64);
  // Those of one exchange for those of another.
  found.exchange_fresh(messages, static_cast<std::uint64_t>(world_.rank()), "ring");
  EXPECT_EQ(found.found().bad_blocks, world_.size() > 1 ? 2U : 0U);
  EXPECT_EQ(found.found().first.has_value(), world_.size() > 1);
}

TEST_F(MpiMessageEnds, FreshMessagesTellTheRepetition) {
  MessageEnds found = ends(key + static_cast<std::uint64_t>(world_.rank()));
  mpi::MessageLoop messages = loop(1);
  found.exchange_fresh(messages, 5, "ring");
  found.exchange_fresh(messages, 6, "ring");
  found.exchange_fresh(messages, 7, "ring");
  EXPECT_EQ(found.found().bad_blocks > 0, world_.size() > 1);
}

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

}  // namespace ullage::message_ends_test
