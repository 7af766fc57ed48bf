// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/request.hpp"

#include <chrono>

#include "message/sockets/test_support.hpp"

namespace ullage::request_test {

SocketsParameters of(SocketProtocol protocol, std::uint64_t block_bytes, bool spin = false) {
  SocketsParameters p;
  p.mode = SocketMode::request;
  p.protocol = protocol;
  p.block_bytes = block_bytes;
  p.spin = spin;
  p.resend_s = 5;
  return p;
}

class Requests : public ::testing::Test {
 protected:
  void make(const SocketsParameters& p) {
    pair_ = p.protocol == SocketProtocol::tcp ? test::tcp_pair(p) : test::udp_pair();
    ASSERT_TRUE(ready_for_requests(pair_.one, p, true));
    client_ = std::make_unique<test::TaskRun>(
        std::make_unique<RequestClient>(MessagePath(pair_.one), keyed_block(1, 2, 3, p.block_bytes), p));
    server_ = std::make_unique<test::TaskRun>(std::make_unique<RequestServer>(MessagePath(pair_.other), p));
  }
  void run(const SocketsParameters& p) {
    make(p);
    server_->start();
    client_->start();
    client_->set(Stage::measuring);
    test::wait_until([&] { return client_->bytes() >= 10 * p.block_bytes; });
    client_->set(Stage::ending);
    EXPECT_TRUE(client_->join());
    server_->set(Stage::over);
    server_->wake();
    EXPECT_TRUE(server_->join());
  }

  test::SocketPair pair_;
  std::unique_ptr<test::TaskRun> client_;
  std::unique_ptr<test::TaskRun> server_;
};

TEST_F(Requests, EachHasItsAnswerAndItsTime) {
  for (const SocketProtocol protocol : {SocketProtocol::tcp, SocketProtocol::udp})
    for (const std::uint64_t bytes : {1, 14, 5000}) {
      run(of(protocol, bytes, bytes == 14));
      const auto counted = client_->counters();
      EXPECT_GE(counted.at("round_trips"), 10U);
      EXPECT_EQ(counted.at("expected"), counted.at("round_trips") + counted.at("lost"));
      EXPECT_EQ(client_->task().latencies()->operations(), counted.at("round_trips"));
      EXPECT_GT(client_->task().latencies()->min_ns(), 0U);
      EXPECT_GE(server_->counters()["answered"], counted.at("round_trips"));
    }
}

TEST_F(Requests, WithoutAnAnswerADatagramIsLostAndAskedAgain) {
  for (const bool spin : {false, true}) {
    SocketsParameters p = of(SocketProtocol::udp, 8, spin);
    p.resend_s = 0.002;
    std::uint64_t lost = 0;
    for (int wait_ms = 20; lost == 0 && wait_ms <= 5000; wait_ms *= 2) {  // the thread may have to wait for its core
      make(p);
      client_->set(Stage::measuring);
      client_->start();
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
      client_->set(Stage::ending);
      EXPECT_TRUE(client_->join());
      EXPECT_EQ(client_->counters()["round_trips"], 0U);
      lost = client_->counters()["lost"];
    }
    EXPECT_GE(lost, 1U);
  }
}

TEST_F(Requests, AnAnswerToAnEarlierRequestIsPassedOver) {
  SocketsParameters p = of(SocketProtocol::udp, 8);
  make(p);
  const std::array<std::byte, 8> stale{};  // number 0 was never asked
  ASSERT_EQ(send(pair_.other.get(), stale.data(), stale.size(), 0), 8);
  server_->start();
  client_->set(Stage::measuring);
  client_->start();
  test::wait_until([&] { return client_->bytes() > 0; });
  client_->set(Stage::ending);
  EXPECT_TRUE(client_->join());
  EXPECT_EQ(client_->counters()["late"], 1U);
  server_->wake();
  EXPECT_TRUE(server_->join());
}

TEST_F(Requests, ATcpPeerThatLeavesIsAnErrorAndAWrongAnswerToo) {
  const SocketsParameters p = of(SocketProtocol::tcp, 8);
  make(p);
  const std::array<std::byte, 8> wrong{};
  ASSERT_EQ(send(pair_.other.get(), wrong.data(), wrong.size(), 0), 8);
  client_->start();
  const Status status = client_->join();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::verification);

  make(p);
  pair_.other.wake();
  client_->start();
  EXPECT_FALSE(client_->join());
}

}  // namespace ullage::request_test
