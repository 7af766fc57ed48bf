// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/parameters.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

enum class SocketMode { stream, request };
/// local: the kernel's own sockets between processes (AF_UNIX) · pipe: a pipe each way. Both are what the kernel does
/// without a protocol: the least that bytes and answers between two processes of a node cost.
enum class SocketProtocol { tcp, udp, icmp, local, pipe };
enum class SocketDirection { forward, both };
enum class IpVersion { v4, v6 };
/// Says how many datagrams a call hands over: gso: what the kernel cuts one large piece into, and puts together again
/// when it receives; many: sendmmsg and recvmmsg; single: one.
enum class DatagramBatch { gso, many, single };
[[nodiscard]] inline Words<DatagramBatch> words_of(DatagramBatch) {
  return {{DatagramBatch::gso, "gso"}, {DatagramBatch::many, "many"}, {DatagramBatch::single, "single"}};
}

struct SocketsParameters {
  SocketMode mode = SocketMode::stream;
  SocketProtocol protocol = SocketProtocol::tcp;
  std::uint64_t block_bytes = 32768;
  int streams = 1;
  SocketDirection direction = SocketDirection::forward;
  double seconds = 1;
  double warm_up_s = 0.2;
  std::string interface;
  IpVersion ip = IpVersion::v4;
  std::uint64_t send_buffer_bytes = 0;
  std::uint64_t receive_buffer_bytes = 0;
  std::uint64_t receive_bytes = 0;
  bool no_delay = false;
  bool zero_copy = false;
  DatagramBatch batch = DatagramBatch::gso;
  double rate = 0;
  double resend_s = 0.2;
  bool spin = false;
  std::uint64_t busy_poll_us = 0;
  double patience_s = 10;

  [[nodiscard]] static Table<SocketsParameters> table();
};

/// Neither needs a network, nor can it reach another node.
[[nodiscard]] inline bool stays_on_node(const SocketsParameters& p) {
  return p.protocol == SocketProtocol::local || p.protocol == SocketProtocol::pipe;
}

/// A datagram of a stream begins with its number and the sender's clock.
inline constexpr std::size_t datagram_header_bytes = 16;

/// Checks what does not go together. `ranks` are those of the layout; `pointer` is that of the parameters.
[[nodiscard]] Status check_sockets(const SocketsParameters& parameters, int ranks, const std::string& pointer);

}  // namespace ullage
