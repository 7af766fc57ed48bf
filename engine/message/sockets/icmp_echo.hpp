// SPDX-License-Identifier: Apache-2.0
// ICMP echoes to a peer's host, which its kernel answers.
#pragma once

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/clock.hpp"
#include "message/sockets/socket.hpp"
#include "message/sockets/stream_task.hpp"

namespace ullage {

/// A datagram socket of ICMP, where net.ipv4.ping_group_range lets this group have one; else a raw one, where this
/// process has the right to it. The error says "not available: ..." and why.
struct EchoSocket {
  Socket socket;
  bool is_raw = false;
};

inline std::string group_range() {
  std::ifstream file("/proc/sys/net/ipv4/ping_group_range");
  std::string first;
  std::string last;
  file >> first >> last;
  return first + " " + last;
}

[[nodiscard]] inline Result<EchoSocket> open_echo_socket(IpVersion ip) {
  const int family = ip == IpVersion::v4 ? AF_INET : AF_INET6;
  const int protocol = ip == IpVersion::v4 ? static_cast<int>(IPPROTO_ICMP) : static_cast<int>(IPPROTO_ICMPV6);
  for (const int type : {SOCK_DGRAM, SOCK_RAW}) {
    Socket made(socket(family, type | SOCK_CLOEXEC, protocol));
    if (made.is_open()) return EchoSocket{std::move(made), type == SOCK_RAW};
  }
  return fail(unsupported("icmp", std::string("not available: the kernel refuses a socket for echoes (") +
                                      std::strerror(errno) +
                                      "); groups that may open one (net.ipv4.ping_group_range): " + group_range()));
}

inline std::uint16_t field_at(std::span<const std::byte> message, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(message[at]) << 8 | static_cast<unsigned>(message[at + 1]));
}

/// The checksum of RFC 1071 over bytes in the order of the network.
[[nodiscard]] inline std::uint16_t internet_checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) sum += field_at(bytes, at);
  if (bytes.size() % 2 != 0) sum += static_cast<unsigned>(bytes.back()) << 8;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// Type, code, checksum, identifier, number: the same in both versions.
inline constexpr std::size_t echo_header_bytes = 8;
inline constexpr std::size_t longest_ip_header = 60;

inline void put_field(std::span<std::byte> message, std::size_t at, std::uint16_t value) {
  message[at] = static_cast<std::byte>(value >> 8);
  message[at + 1] = static_cast<std::byte>(value & 0xff);
}

/// An echo after the other until the stage is ending; one without an answer is lost.
class IcmpEcho final : public AskingTask {
 public:
  /// `remote` is connected to by run().
  IcmpEcho(EchoSocket socket, std::string remote, std::vector<std::byte> block, const SocketsParameters& p)
      : socket_(std::move(socket)),
        remote_(std::move(remote)),
        ip_(p.ip),
        limit_ns_(static_cast<std::int64_t>(p.resend_s * 1e9)),
        block_bytes_(block.size()),
        request_(echo_header_bytes + block.size()),
        answer_(longest_ip_header + request_.size()),
        identifier_(static_cast<std::uint16_t>(getpid())) {
    std::ranges::copy(block, request_.begin() + echo_header_bytes);
  }

  [[nodiscard]] Status run(const StageSign& stage) override {
    if (const Status ready = make_ready(); !ready) return ready;
    Stage at = stage.get();
    while (at < Stage::ending) {
      write_request();
      const std::int64_t begun = now_ns();
      const auto answer = ask();
      if (!answer) return fail(answer.error());
      if (*answer == Answer::ended) return {};
      add(at, *answer, now_ns() - begun, block_bytes_);
      at = stage.get();
    }
    return {};
  }

  void wake() override { socket_.socket.wake(); }

 private:
  [[nodiscard]] Status make_ready() {
    const timeval limit{limit_ns_ / 1'000'000'000, std::max<std::int64_t>(limit_ns_ % 1'000'000'000 / 1000, 1)};
    if (setsockopt(socket_.socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0)
      return socket_failure("setsockopt", "icmp");
    return connect_datagrams(socket_.socket, remote_, 0);
  }

  /// The kernel fills in the identifier of a datagram socket, and the checksum there and of version 6.
  void write_request() {
    ++number_;
    request_[0] = static_cast<std::byte>(ip_ == IpVersion::v4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST);
    put_field(request_, 2, 0);
    put_field(request_, 4, identifier_);
    put_field(request_, 6, number_);
    if (ip_ == IpVersion::v4) put_field(request_, 2, internet_checksum(request_));
  }

  /// Returns whether it went out.
  [[nodiscard]] Result<bool> send_request() {
    while (::send(socket_.socket.get(), request_.data(), request_.size(), MSG_NOSIGNAL) < 0) {
      if (errno == ENOBUFS || errno == EAGAIN) return false;
      if (errno != EINTR) return socket_failure("send", "icmp");
    }
    return true;
  }

  [[nodiscard]] Result<Answer> ask() {
    const std::int64_t deadline_ns = now_ns() + limit_ns_;
    const auto sent = send_request();
    if (!sent) return fail(sent.error());
    // Raw sockets see the echoes of others: those do not make it wait on and on.
    while (*sent && now_ns() < deadline_ns) {
      const ssize_t got = ::recv(socket_.socket.get(), answer_.data(), answer_.size(), 0);
      if (got == 0) return Answer::ended;
      if (got < 0 && errno != EAGAIN && errno != EINTR) return socket_failure("receive", "icmp");
      if (got < 0) continue;
      if (is_answer(std::span(answer_).first(static_cast<std::size_t>(got)))) return Answer::right;
      ++late_;
    }
    return Answer::lost;
  }

  /// Returns whether these bytes, as received, answer the request.
  [[nodiscard]] bool is_answer(std::span<const std::byte> message) const {
    if (socket_.is_raw && ip_ == IpVersion::v4 && !message.empty()) {
      const std::size_t header = 4 * (static_cast<std::size_t>(message[0]) & 0xf);
      message = message.subspan(std::min(header, message.size()));
    }
    if (message.size() != request_.size()) return false;
    const auto reply = static_cast<std::byte>(ip_ == IpVersion::v4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY);
    const bool is_own = !socket_.is_raw || field_at(message, 4) == identifier_;
    return message[0] == reply && is_own && field_at(message, 6) == number_ &&
           std::equal(message.begin() + echo_header_bytes, message.end(), request_.begin() + echo_header_bytes);
  }

  EchoSocket socket_;
  std::string remote_;
  IpVersion ip_;
  std::int64_t limit_ns_;
  std::size_t block_bytes_;
  std::vector<std::byte> request_;
  std::vector<std::byte> answer_;
  std::uint16_t identifier_ = 0;
  std::uint16_t number_ = 0;
};

}  // namespace ullage
