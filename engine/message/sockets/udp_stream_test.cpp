// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/udp_stream.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

#include "message/sockets/test_support.hpp"

namespace ullage::udp_stream_test {

/// A call receives up to 256 datagrams, and a stage begins with the call after: so many are of a stage certainly.
constexpr std::uint64_t measured = 100;
constexpr std::uint64_t awaited = measured + 2 * 256;

class UdpStream : public ::testing::Test {
 protected:
  void run(const SocketsParameters& p, std::uint64_t expected_key = 1) {
    pair_ = test::udp_pair();
    const auto block = keyed_block(1, 2, 3, p.block_bytes);
    receiver_ = std::make_unique<test::TaskRun>(
        std::make_unique<UdpReceiver>(pair_.other, keyed_block(expected_key, 2, 3, p.block_bytes), p));
    sender_ = std::make_unique<test::TaskRun>(std::make_unique<UdpSender>(pair_.one, block, p));
    receiver_->start();
    sender_->start();
    test::wait_until([&] { return receiver_->bytes() > 0; });
    receiver_->set(Stage::measuring);
    const std::uint64_t before = receiver_->bytes();
    test::wait_until([&] { return receiver_->bytes() > before + awaited * p.block_bytes; });
    receiver_->set(Stage::ending);
    sender_->set(Stage::ending);
    EXPECT_TRUE(sender_->join());
    receiver_->wake();
    EXPECT_TRUE(receiver_->join());
    received_ = receiver_->counters();
  }

  test::SocketPair pair_;
  std::unique_ptr<test::TaskRun> sender_;
  std::unique_ptr<test::TaskRun> receiver_;
  std::map<std::string, std::uint64_t> received_;
};

SocketsParameters of(DatagramBatch batch, std::uint64_t block_bytes) {
  SocketsParameters p;
  p.mode = SocketMode::stream;
  p.protocol = SocketProtocol::udp;
  p.batch = batch;
  p.block_bytes = block_bytes;
  return p;
}

TEST_F(UdpStream, WhatIsSentArrivesOrIsCountedAsLost) {
  for (const DatagramBatch batch : {DatagramBatch::gso, DatagramBatch::many, DatagramBatch::single}) {
    run(of(batch, 1000));
    EXPECT_EQ(received_["bad_pieces"], 0U);
    EXPECT_EQ(received_["duplicates"], 0U);
    EXPECT_GT(received_["checked_bytes"], 0U);
    EXPECT_GE(received_["expected"], measured);
    EXPECT_LT(received_["lost"], received_["expected"]);
    EXPECT_LE(received_["received_bytes"], sender_->counters()["sent_bytes"]);
    EXPECT_EQ(received_["received_bytes"] % 1000, 0U);
  }
}

TEST_F(UdpStream, ADatagramMayBeAHeaderAlone) {
  run(of(DatagramBatch::gso, datagram_header_bytes));
  EXPECT_GE(received_["expected"], measured);
}

TEST_F(UdpStream, LargeDatagramsGoOneByOneWherePiecesCannotHoldTwo) {
  run(of(DatagramBatch::gso, 60000));
  EXPECT_EQ(dynamic_cast<UdpSender&>(sender_->task()).batch(), DatagramBatch::many);
  EXPECT_EQ(received_["bad_pieces"], 0U);
}

TEST_F(UdpStream, AnotherPayloadIsNoticed) {
  run(of(DatagramBatch::many, 1000), 7);
  EXPECT_GT(received_["bad_pieces"], 0U);
}

TEST_F(UdpStream, ARateIsNotExceeded) {
  SocketsParameters p = of(DatagramBatch::gso, 1000);
  p.rate = 2e6;
  const std::int64_t begun = now_ns();
  run(p);
  const double took_s = static_cast<double>(now_ns() - begun) * 1e-9;
  EXPECT_LE(static_cast<double>(sender_->counters()["sent_bytes"]), 2e6 * took_s + 2000);
  std::map<std::string, double> gauges;
  receiver_->task().measure(gauges);
  EXPECT_GT(gauges["jitter_s"], 0);
}

SequenceAccount account_of(std::initializer_list<std::uint64_t> numbers) {
  SequenceAccount account;
  for (const std::uint64_t number : numbers) account.add(number);
  return account;
}

TEST(SequenceAccount, AllInTurnMissNothing) {
  const auto totals = account_of({0, 1, 2, 3}).totals();
  EXPECT_EQ(totals.received, 4U);
  EXPECT_EQ(totals.lost_since({}), 0U);
  EXPECT_EQ(totals.duplicates + totals.reordered, 0U);
}

TEST(SequenceAccount, AGapIsLossUntilItIsFilled) {
  SequenceAccount account = account_of({0, 1, 4});
  EXPECT_EQ(account.totals().lost_since({}), 2U);
  account.add(3);
  EXPECT_EQ(account.totals().lost_since({}), 1U);
  EXPECT_EQ(account.totals().reordered, 1U);
  EXPECT_EQ(account.totals().duplicates, 0U);
}

TEST(SequenceAccount, WhatCameBeforeIsADuplicateAndNoGain) {
  const auto totals = account_of({0, 1, 1, 3, 0, 3}).totals();
  EXPECT_EQ(totals.duplicates, 3U);
  EXPECT_EQ(totals.reordered, 0U);
  EXPECT_EQ(totals.lost_since({}), 1U);
}

TEST(SequenceAccount, AWindowCountsOnlyItsOwn) {
  SequenceAccount account = account_of({0, 5});
  const auto before = account.totals();
  account.add(6);
  account.add(9);
  EXPECT_EQ(account.totals().expected_since(before), 4U);
  EXPECT_EQ(account.totals().lost_since(before), 2U);
  account.add(3);  // of before the window: never less than none are lost
  account.add(7);
  account.add(8);
  EXPECT_EQ(account.totals().lost_since(before), 0U);
}

TEST(SequenceAccount, NumbersOneTurnOfTheMemoryApartAreTwo) {
  SequenceAccount account = account_of({0});
  account.add(SequenceAccount::remembered);
  EXPECT_EQ(account.totals().duplicates, 0U);
  account.add(1);
  EXPECT_EQ(account.totals().reordered, 1U);
  account.add(1);
  EXPECT_EQ(account.totals().duplicates, 1U);
  account.add(0);  // too long ago to be known
  EXPECT_EQ(account.totals().duplicates, 1U);
  EXPECT_EQ(account.totals().reordered, 2U);
}

TEST(SequenceAccount, AJumpFurtherThanTheMemoryForgetsAll) {
  SequenceAccount account = account_of({0, 1, 2});
  account.add(3 * SequenceAccount::remembered + 5);
  account.add(2 * SequenceAccount::remembered + 5 + 1);
  EXPECT_EQ(account.totals().duplicates, 0U);
  EXPECT_EQ(account.totals().reordered, 1U);
}

TEST(SequenceAccount, JitterIsRfc3550s) {
  SequenceAccount account;
  account.arrived(1'000'000'000, 50);  // the offset of the clocks is of no matter
  EXPECT_EQ(account.jitter_ns(), 0);
  account.arrived(1'000'000'100, 150);
  EXPECT_EQ(account.jitter_ns(), 0);
  account.arrived(1'000'000'200, 266);
  EXPECT_EQ(account.jitter_ns(), 1);  // 16 / 16
  account.arrived(1'000'000'300, 350);
  EXPECT_DOUBLE_EQ(account.jitter_ns(), 1 + (16 - 1) / 16.0);
}

}  // namespace ullage::udp_stream_test
