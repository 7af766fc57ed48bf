// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/sockets_parameters.hpp"

namespace ullage {
namespace {

/// 65535 less the headers of IP and UDP, or of IP and ICMP.
constexpr std::uint64_t largest_datagram = 65507;
constexpr double longest_s = 3600;

// Made when they are asked for: tables are, before main().
Words<SocketMode> modes() { return {{SocketMode::stream, "stream"}, {SocketMode::request, "request"}}; }
Words<SocketProtocol> protocols() {
  return {{SocketProtocol::tcp, "tcp"},
          {SocketProtocol::udp, "udp"},
          {SocketProtocol::icmp, "icmp"},
          {SocketProtocol::local, "unix"},
          {SocketProtocol::pipe, "pipe"}};
}
Words<SocketDirection> directions() { return {{SocketDirection::forward, "forward"}, {SocketDirection::both, "both"}}; }
Words<IpVersion> versions() { return {{IpVersion::v4, "4"}, {IpVersion::v6, "6"}}; }

using P = SocketsParameters;

Table<P> job_fields() {
  return {
      choice("mode", &P::mode, modes(),
             "Choose stream, which sends as much as the connection takes, or request, which sends a message and waits "
             "for its answer."),
      choice("protocol", &P::protocol, protocols(),
             "Choose the protocol. With icmp the requests are echoes; it works in mode request only. With unix the "
             "bytes go through the kernel's own sockets (AF_UNIX), with pipe the requests through pipes: the least "
             "that two processes of one node need."),
      bytes("block_bytes", &P::block_bytes, {1, 1 << 30},
            "Set the bytes of a call, of a datagram, or of a request and of its answer."),
      count("streams", &P::streams, {1, 256},
            "Run this many streams in each pair, with one thread for each at either end."),
      choice("direction", &P::direction, directions(),
             "Choose the direction of streams: from the lower rank of the pair to the higher, or both ways at once."),
      seconds("seconds", &P::seconds, {0.001, longest_s}, "Measure for this many seconds."),
      seconds("warm_up_s", &P::warm_up_s, {0, 60},
              "Run the same traffic for this many seconds before the measurement."),
      text("interface", &P::interface,
           "Use the addresses of this network interface; empty means loopback on one node, else the interface of the "
           "route."),
      choice("ip", &P::ip, versions(), "Choose the version of IP."),
  };
}

Table<P> socket_fields() {
  return {
      bytes("send_buffer_bytes", &P::send_buffer_bytes, {0, 1 << 30},
            "Set SO_SNDBUF to this many bytes; 0 keeps the kernel's default."),
      bytes("receive_buffer_bytes", &P::receive_buffer_bytes, {0, 1 << 30},
            "Set SO_RCVBUF to this many bytes; 0 keeps the kernel's default."),
      bytes("receive_bytes", &P::receive_bytes, {0, 1 << 30},
            "Ask for this many bytes in each call that receives from a tcp stream; 0 means block_bytes."),
      flag("no_delay", &P::no_delay, "Set TCP_NODELAY, so that small messages do not wait for others."),
      flag("zero_copy", &P::zero_copy,
           "Use MSG_ZEROCOPY for tcp streams, so that the kernel sends from the program's pages without a copy."),
      choice("batch", &P::batch,
             "Choose how a call passes datagrams of a udp stream to the kernel. With gso it passes one large piece "
             "that the kernel cuts; with many it passes several datagrams, with single one."),
      rate("rate", &P::rate, {0, 1e15}, "Limit each udp stream to this many bytes a second; 0 means no limit."),
      seconds("resend_s", &P::resend_s, {0.001, 10},
              "Count a udp request or an echo as lost after this many seconds without an answer."),
      flag("spin", &P::spin, "Wait for requests by repeated calls that do not block, without sleeping."),
      count("busy_poll_us", &P::busy_poll_us, {0, 1'000'000},
            "Set SO_BUSY_POLL of requests to this many us; 0 keeps the kernel's default."),
      seconds("patience_s", &P::patience_s, {0.1, 600},
              "Report an error when a peer has not answered for this many seconds."),
  };
}

struct Rule {
  bool broken;
  const char* parameter;
  const char* text;
};

bool is_icmp(const P& p) { return p.protocol == SocketProtocol::icmp; }
bool is_stream_of(const P& p, SocketProtocol protocol) {
  return p.mode == SocketMode::stream && p.protocol == protocol;
}

std::vector<Rule> rules_of_jobs(const P& p) {
  const bool is_tcp = p.protocol == SocketProtocol::tcp;
  const bool is_stream = p.mode == SocketMode::stream;
  const bool is_pipe = p.protocol == SocketProtocol::pipe;
  const bool has_no_buffers = is_icmp(p) || is_pipe;
  return {
      {is_stream && is_icmp(p), "/mode", "must be request for icmp, which has no streams"},
      {is_stream && is_pipe, "/mode", "must be request for pipe"},
      {stays_on_node(p) && !p.interface.empty(), "/interface", "is for tcp, udp and icmp only"},
      {is_icmp(p) && p.streams > 1, "/streams", "must be 1 for echoes"},
      {!is_tcp && !stays_on_node(p) && p.block_bytes > largest_datagram, "/block_bytes",
       "must be at most 65507, the longest datagram"},
      {!is_tcp && p.no_delay, "/no_delay", "is for tcp only"},
      {has_no_buffers && p.send_buffer_bytes > 0, "/send_buffer_bytes", "is for tcp, udp and unix only"},
      {has_no_buffers && p.receive_buffer_bytes > 0, "/receive_buffer_bytes", "is for tcp, udp and unix only"},
  };
}

std::vector<Rule> rules_of_streams(const P& p) {
  const bool is_tcp = is_stream_of(p, SocketProtocol::tcp);
  const bool is_udp = is_stream_of(p, SocketProtocol::udp);
  return {
      {is_udp && p.block_bytes < datagram_header_bytes, "/block_bytes",
       "must be at least 16, for the number and the time stamp of a datagram"},
      {!is_tcp && p.zero_copy, "/zero_copy", "is for tcp streams only"},
      {!is_tcp && p.receive_bytes > 0, "/receive_bytes", "is for tcp streams only"},
      {!is_udp && p.batch != DatagramBatch::gso, "/batch", "is for udp streams only"},
      {!is_udp && p.rate > 0, "/rate", "is for udp streams only"},
  };
}

std::vector<Rule> rules_of_requests(const P& p) {
  const bool is_stream = p.mode == SocketMode::stream;
  const bool has_calls = !is_stream && !is_icmp(p) && !stays_on_node(p);
  return {
      {!is_stream && p.direction == SocketDirection::both, "/direction", "must be forward for requests"},
      {!has_calls && p.spin, "/spin", "is for tcp and udp requests only"},
      {!has_calls && p.busy_poll_us > 0, "/busy_poll_us", "is for tcp and udp requests only"},
  };
}

}  // namespace

Table<SocketsParameters> SocketsParameters::table() { return joined<P>(job_fields(), socket_fields()); }

Status check_sockets(const SocketsParameters& p, int ranks, const std::string& pointer) {
  if (ranks < 2) return fail(bad_plan(pointer, "needs two ranks or more, since each rank has another as its peer"));
  for (const auto& rules : {rules_of_jobs(p), rules_of_streams(p), rules_of_requests(p)})
    for (const Rule& rule : rules)
      if (rule.broken) return fail(bad_plan(pointer + rule.parameter, rule.text));
  return {};
}

}  // namespace ullage
