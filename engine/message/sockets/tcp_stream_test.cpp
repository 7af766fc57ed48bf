// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/tcp_stream.hpp"

#include "message/sockets/test_support.hpp"

namespace ullage::tcp_stream_test {

constexpr std::uint64_t enough = 1 << 18;

/// Both ends for a while; the receiver is told to check from the start where `checks` says so.
class TcpStream : public ::testing::Test {
 protected:
  void run(bool zero_copy, std::vector<std::byte> sent, std::vector<std::byte> expected) {
    pair_ = test::tcp_pair();
    receiver_ = std::make_unique<test::TaskRun>(std::make_unique<TcpReceiver>(pair_.other, std::move(expected), 3000));
    sender_ = std::make_unique<test::TaskRun>(std::make_unique<TcpSender>(pair_.one, std::move(sent), zero_copy));
    receiver_->start();
    sender_->start();
    test::wait_until([&] { return receiver_->bytes() > enough; });
    receiver_->set(Stage::measuring);
    sender_->set(Stage::measuring);
    const std::uint64_t before = receiver_->bytes();
    test::wait_until([&] { return receiver_->bytes() > before + enough; });
    receiver_->set(Stage::ending);
    sender_->set(Stage::ending);
    EXPECT_TRUE(sender_->join());
    EXPECT_TRUE(receiver_->join());
  }

  test::SocketPair pair_;
  std::unique_ptr<test::TaskRun> sender_;
  std::unique_ptr<test::TaskRun> receiver_;
};

TEST_F(TcpStream, EverythingSentArrivesAndIsRight) {
  run(false, keyed_block(1, 2, 3, 1000), keyed_block(1, 2, 3, 1000));
  EXPECT_EQ(sender_->task().total_bytes(), receiver_->task().total_bytes());
  EXPECT_EQ(receiver_->counters()["bad_pieces"], 0U);
  EXPECT_GE(receiver_->counters()["checked_bytes"], 1U << 16);
  EXPECT_LT(receiver_->counters()["checked_bytes"], receiver_->counters()["received_bytes"]);
}

TEST_F(TcpStream, AnotherBlockIsNoticed) {
  run(false, keyed_block(1, 2, 3, 1000), keyed_block(1, 2, 4, 1000));
  EXPECT_GT(receiver_->counters()["bad_pieces"], 0U);
}

TEST_F(TcpStream, WithoutCopiesItIsTheSame) {
  run(true, keyed_block(1, 2, 3, 16384), keyed_block(1, 2, 3, 16384));
  EXPECT_EQ(sender_->task().total_bytes(), receiver_->task().total_bytes());
  EXPECT_EQ(receiver_->counters()["bad_pieces"], 0U);
  EXPECT_GT(sender_->counters()["zero_copy_calls"], 0U);
  EXPECT_LE(sender_->counters()["zero_copy_copied"], sender_->counters()["zero_copy_calls"]);
}

TEST_F(TcpStream, APeerThatLeavesEarlyIsAnError) {
  pair_ = test::tcp_pair();
  test::TaskRun receiver(std::make_unique<TcpReceiver>(pair_.other, keyed_block(1, 2, 3, 10), 10));
  receiver.start();
  pair_.one = Socket();
  const Status ended = receiver.join();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().errno_value, ECONNRESET);
}

TEST_F(TcpStream, ASenderThatNobodyReadsFromCanBeWoken) {
  pair_ = test::tcp_pair();
  test::TaskRun sender(std::make_unique<TcpSender>(pair_.one, keyed_block(1, 2, 3, 65536), false));
  sender.start();
  test::wait_until([&] { return sender.bytes() > 0; });
  sender.set(Stage::ending);
  sender.wake();
  (void)sender.join();  // with or without an error, as the call was met
  EXPECT_GT(sender.bytes(), 0U);
}

}  // namespace ullage::tcp_stream_test
