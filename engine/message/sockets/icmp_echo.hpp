// SPDX-License-Identifier: Apache-2.0
// ICMP echoes to a peer's host, which its kernel answers.
#pragma once

#include "message/sockets/socket.hpp"
#include "message/sockets/stream_task.hpp"

namespace ullage {

/// A datagram socket of ICMP, where net.ipv4.ping_group_range lets this group have one; else a raw one, where this
/// process has the right to it. The error says "not available: ..." and why.
struct EchoSocket {
  Socket socket;
  bool is_raw = false;
};
[[nodiscard]] Result<EchoSocket> open_echo_socket(IpVersion ip);

/// The checksum of RFC 1071 over bytes in the order of the network.
[[nodiscard]] std::uint16_t internet_checksum(std::span<const std::byte> bytes);

/// An echo after the other until the stage is ending; one without an answer is lost.
class IcmpEcho final : public StreamTask {
 public:
  /// `remote` is connected to by run().
  IcmpEcho(EchoSocket socket, std::string remote, std::vector<std::byte> block, const SocketsParameters& parameters);
  [[nodiscard]] Status run(const StageSign& stage) override;
  void wake() override { socket_.socket.wake(); }
  void count(std::map<std::string, std::uint64_t>& counters) const override;
  [[nodiscard]] const Histogram* latencies() const override { return &latencies_; }

 private:
  enum class Answer { right, lost, ended };
  [[nodiscard]] Status make_ready();
  void write_request();
  [[nodiscard]] Result<bool> send_request();
  [[nodiscard]] Result<Answer> ask();
  /// Returns whether these bytes, as received, answer the request.
  [[nodiscard]] bool is_answer(std::span<const std::byte> message) const;

  EchoSocket socket_;
  std::string remote_;
  IpVersion ip_;
  std::int64_t limit_ns_;
  std::size_t block_bytes_;
  std::vector<std::byte> request_;
  std::vector<std::byte> answer_;
  Histogram latencies_;
  std::uint16_t identifier_ = 0;
  std::uint16_t number_ = 0;
  std::uint64_t measured_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace ullage
