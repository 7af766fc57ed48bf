// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/icmp_echo.hpp"

#include "message/sockets/test_support.hpp"

namespace ullage::icmp_echo_test {

TEST(IcmpEcho, ChecksumIsRfc1071s) {
  const std::array<std::byte, 8> bytes{std::byte{0x00}, std::byte{0x01}, std::byte{0xf2}, std::byte{0x03},
                                       std::byte{0xf4}, std::byte{0xf5}, std::byte{0xf6}, std::byte{0xf7}};
  EXPECT_EQ(internet_checksum(bytes), static_cast<std::uint16_t>(~0xddf2));  // its section 3
  EXPECT_EQ(internet_checksum(std::span(bytes).first(1)), 0xffff);
  EXPECT_EQ(internet_checksum({}), 0xffff);
}

TEST(IcmpEcho, TheKernelAnswersOrItIsSaidWhyNot) {
  for (const auto& [ip, address] : {std::pair{IpVersion::v4, "127.0.0.1"}, std::pair{IpVersion::v6, "::1"}}) {
    auto socket = open_echo_socket(ip);
    if (!socket) {
      EXPECT_TRUE(socket.error().text.starts_with("not available: ")) << socket.error().text;
      continue;
    }
    SocketsParameters p;
    p.mode = SocketMode::request;
    p.protocol = SocketProtocol::icmp;
    p.ip = ip;
    p.resend_s = 5;
    if (!connect_datagrams(datagram_socket(address).value_or(Socket()), address, 9)) continue;  // no IPv6 here
    test::TaskRun echo(std::make_unique<IcmpEcho>(std::move(*socket), address, keyed_block(1, 2, 3, 57), p));
    echo.set(Stage::measuring);
    echo.start();
    test::wait_until([&] { return echo.bytes() >= 10 * 57; });
    echo.set(Stage::ending);
    EXPECT_TRUE(echo.join());
    EXPECT_GE(echo.counters()["round_trips"], 10U);
    EXPECT_EQ(echo.counters()["lost"], 0U);
    EXPECT_EQ(echo.task().latencies()->operations(), echo.counters()["round_trips"]);
  }
}

}  // namespace ullage::icmp_echo_test
