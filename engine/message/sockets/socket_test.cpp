// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/socket.hpp"

#include "message/sockets/test_support.hpp"

namespace ullage::socket_test {

std::array<std::byte, 4> bytes_of(char first) { return {std::byte(first), std::byte{2}, std::byte{3}, std::byte{4}}; }

TEST(Socket, BytesGoThroughAndTheEndIsAnError) {
  test::SocketPair pair = test::tcp_pair();
  ASSERT_TRUE(send_until(pair.one, bytes_of(7), test::soon_ns()));
  std::array<std::byte, 4> got{};
  ASSERT_TRUE(receive_until(pair.other, got, test::soon_ns()));
  EXPECT_EQ(got, bytes_of(7));
  pair.one = Socket();
  const Status ended = receive_until(pair.other, got, test::soon_ns());
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().errno_value, ECONNRESET);
}

TEST(Socket, WaitingHasAnEnd) {
  test::SocketPair pair = test::tcp_pair();
  std::array<std::byte, 1> got{};
  const Status late = receive_until(pair.one, got, now_ns() + 1'000'000);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::timeout);
  const Socket listening = listening_socket("127.0.0.1", 1).value();
  EXPECT_FALSE(accept_until(listening, now_ns() + 1'000'000));
}

TEST(Socket, NobodyListensThere) {
  const std::uint16_t port = listening_socket("127.0.0.1", 1).value().port().value();
  const auto refused = connected_socket("127.0.0.1", "127.0.0.1", port, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().errno_value, ECONNREFUSED);
}

TEST(Socket, AnAddressOfSomebodyElseCannotBeBoundTo) { EXPECT_FALSE(listening_socket("192.0.2.250", 1)); }

TEST(Socket, OptionsAreAsAskedFor) {
  SocketsParameters p;
  p.no_delay = true;
  p.send_buffer_bytes = p.receive_buffer_bytes = 32768;
  const test::SocketPair pair = test::tcp_pair(p);
  EXPECT_EQ(pair.one.option(IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_EQ(pair.one.option(SOL_SOCKET, SO_SNDBUF), 65536);  // the kernel doubles it
  EXPECT_EQ(pair.one.option(SOL_SOCKET, SO_RCVBUF), 65536);
  EXPECT_EQ(pair.other.option(IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_FALSE(pair.one.option(SOL_SOCKET, -1));
}

TEST(Socket, WakingEndsAWaitAlsoForDatagrams) {
  const test::SocketPair pair = test::udp_pair();
  std::thread waker([&] { pair.one.wake(); });
  std::array<std::byte, 8> got{};
  EXPECT_EQ(recv(pair.one.get(), got.data(), got.size(), 0), 0);
  waker.join();
}

}  // namespace ullage::socket_test
