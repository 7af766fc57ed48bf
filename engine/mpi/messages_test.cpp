// SPDX-License-Identifier: Apache-2.0
#include "mpi/messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace ullage::mpi::messages_test {
namespace {

TEST(RotatingBuffer, GoesOnByMultiplesOfEightUntilTheEnd) {
  std::vector<std::byte> bytes(32);
  RotatingBuffer buffer(bytes);
  const auto offset = [&](std::size_t length) { return buffer.next(length) - bytes.data(); };
  EXPECT_EQ(offset(5), 0);
  EXPECT_EQ(offset(9), 8);
  EXPECT_EQ(offset(8), 24);
  EXPECT_EQ(offset(1), 0);
  EXPECT_EQ(offset(32), 0);
  EXPECT_EQ(offset(32), 0);
  buffer = RotatingBuffer(buffer.bytes());
  EXPECT_EQ(offset(24), 0);
  EXPECT_EQ(offset(9), 0);
}

constexpr std::size_t slots = 6;

/// Every byte of a slot of a rank's buffer.
std::byte content(int rank, std::size_t slot) { return static_cast<std::byte>(16 * rank + static_cast<int>(slot) + 1); }

class MpiMessages : public ::testing::TestWithParam<MessageMethod> {
 protected:
  [[nodiscard]] MessageLoop loop(const std::vector<MessageStep>& steps, std::size_t length) {
    const std::size_t slot_bytes = (length + 7) / 8 * 8;
    out_bytes_.assign(slots * slot_bytes, {});
    in_bytes_.assign(slots * slot_bytes, {});
    for (std::size_t i = 0; i < out_bytes_.size(); ++i) out_bytes_[i] = content(rank_, i / slot_bytes);
    out_ = RotatingBuffer(out_bytes_);
    in_ = RotatingBuffer(in_bytes_);
    return {world_, steps, GetParam(), length, out_, in_};
  }
  [[nodiscard]] int at(int shift) const { return (rank_ + shift + ranks_) % ranks_; }
  /// To the next and to the one before, as far as they differ; a rank alone to itself.
  [[nodiscard]] std::vector<MessageStep> ring() const {
    std::vector<MessageStep> steps{{at(1), at(-1), 0}};
    if (at(1) != at(-1)) steps.push_back({at(-1), at(1), 1});
    return steps;
  }
  static void expect_all(const MessageLoop::Received& message, std::byte expected) {
    EXPECT_TRUE(std::ranges::all_of(message.data, [&](std::byte byte) { return byte == expected; }))
        << "from " << message.from << ", " << message.data.size() << " bytes";
  }

  Comm world_ = Comm::world();
  int rank_ = world_.rank();
  int ranks_ = world_.size();
  std::vector<std::byte> out_bytes_;
  std::vector<std::byte> in_bytes_;
  RotatingBuffer out_{{}};
  RotatingBuffer in_{{}};
};

TEST_P(MpiMessages, RingBringsTheNeighboursLastMessages) {
  for (const std::size_t length : {1U, 13U, 4096U, 200'000U}) {
    const auto steps = ring();
    MessageLoop messages = loop(steps, length);
    EXPECT_EQ(messages.sends(), steps.size());
    messages.run(4);
    ASSERT_EQ(messages.last_received().size(), steps.size());
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const auto& message = messages.last_received()[step];
      EXPECT_EQ(message.from, steps[step].from);
      ASSERT_EQ(message.data.size(), length);
      expect_all(message, content(message.from, (3 * steps.size() + step) % slots));
    }
    world_.barrier();
  }
}

TEST_P(MpiMessages, GoesOnWhereItStopped) {
  const auto steps = ring();
  MessageLoop messages = loop(steps, 24);
  messages.run(1);
  messages.run(0);
  const std::byte* const foreseen = RotatingBuffer(messages.in()).next(24);
  messages.run(1);
  EXPECT_EQ(messages.last_received().front().data.data(), foreseen);
  expect_all(messages.last_received().front(), content(at(-1), steps.size()));
  ASSERT_EQ(messages.last_sent().size(), steps.size());
  EXPECT_EQ(messages.last_sent().front().data(), out_bytes_.data() + 24 * steps.size());
  EXPECT_EQ(messages.last_sent().front().size(), 24U);
}

/// Each step has one side only: first along a line of ranks, then what the last one has back to the first.
TEST_P(MpiMessages, OneSidedStepsMeetAcrossRanks) {
  if (ranks_ < 2) GTEST_SKIP() << "one rank";
  const int last = ranks_ - 1;
  std::vector<MessageStep> steps;
  if (rank_ > 0) steps.push_back({MessageStep::nobody, rank_ - 1, 0});
  if (rank_ < last) steps.push_back({rank_ + 1, MessageStep::nobody, 0});
  if (ranks_ > 2 && rank_ == last) steps.push_back({0, MessageStep::nobody, 1});
  if (ranks_ > 2 && rank_ == 0) steps.push_back({MessageStep::nobody, last, 1});
  MessageLoop messages = loop(steps, 100'000);
  messages.run(2);
  if (rank_ > 0) expect_all(messages.last_received().front(), content(rank_ - 1, 1));
  if (ranks_ > 2 && rank_ == 0) expect_all(messages.last_received().back(), content(last, 1));
}

TEST_P(MpiMessages, WhoHasNoStepsIsIdleButForAlltoallv) {
  const bool in_pair = rank_ < 2 && ranks_ > 1;
  std::vector<MessageStep> steps;
  if (in_pair) steps.push_back({1 - rank_, 1 - rank_, 0});
  MessageLoop messages = loop(steps, 8);
  EXPECT_EQ(messages.is_idle(), !in_pair && GetParam() != MessageMethod::alltoallv);
  messages.run(3);
  EXPECT_EQ(messages.sends(), in_pair ? 1U : 0U);
  EXPECT_EQ(messages.last_received().size(), in_pair ? 1U : 0U);
  if (in_pair) expect_all(messages.last_received().front(), content(1 - rank_, 2));
}

INSTANTIATE_TEST_SUITE_P(EachMethod, MpiMessages,
                         ::testing::Values(MessageMethod::sendrecv, MessageMethod::alltoallv,
                                           MessageMethod::nonblocking));

/// Two messages for the same rank, which tags tell apart.
TEST(MpiMessagesOfAPair, BothArriveByTheirTags) {
  const Comm world = Comm::world();
  const int partner = world.rank() ^ 1;
  if (partner >= world.size()) return;
  for (const auto method : {MessageMethod::sendrecv, MessageMethod::nonblocking}) {
    std::vector<std::byte> out(16);
    std::vector<std::byte> in(16);
    std::fill_n(out.begin(), 8, content(world.rank(), 0));
    std::fill_n(out.begin() + 8, 8, content(world.rank(), 1));
    RotatingBuffer sends(out);
    RotatingBuffer receives(in);
    MessageLoop messages(world, {{partner, partner, 0}, {partner, partner, 1}}, method, 8, sends, receives);
    messages.run(2);
    EXPECT_EQ(messages.last_received()[0].data.front(), content(partner, 0));
    EXPECT_EQ(messages.last_received()[1].data.front(), content(partner, 1));
  }
}

}  // namespace
}  // namespace ullage::mpi::messages_test
