// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/sockets_parameters.hpp"

#include <vector>

namespace ullage {
namespace {

/// 65535 less the headers of IP and UDP, or of IP and ICMP.
constexpr std::uint64_t largest_datagram = 65507;
constexpr double longest_s = 3600;

// Made when they are asked for: tables are, before main().
Words<SocketMode> modes() { return {{SocketMode::stream, "stream"}, {SocketMode::request, "request"}}; }
Words<SocketProtocol> protocols() {
  return {{SocketProtocol::tcp, "tcp"}, {SocketProtocol::udp, "udp"}, {SocketProtocol::icmp, "icmp"}};
}
Words<SocketDirection> directions() { return {{SocketDirection::forward, "forward"}, {SocketDirection::both, "both"}}; }
Words<IpVersion> versions() { return {{IpVersion::v4, "4"}, {IpVersion::v6, "6"}}; }
Words<DatagramBatch> batches() {
  return {{DatagramBatch::gso, "gso"}, {DatagramBatch::many, "many"}, {DatagramBatch::single, "single"}};
}

using P = SocketsParameters;

Table<P> job_fields() {
  return {
      choice("mode", &P::mode, modes(),
             "stream: as much as goes through; request: a message and its answer, one after the other"),
      choice("protocol", &P::protocol, protocols(), "icmp: echoes, of mode request only"),
      bytes("block_bytes", &P::block_bytes, {1, 1 << 30}, "of a call, a datagram, a request and its answer"),
      count("streams", &P::streams, {1, 256}, "of a pair, a thread each at either end"),
      choice("direction", &P::direction, directions(),
             "of streams: from the pair's lower rank to the higher, or both ways at once"),
      seconds("seconds", &P::seconds, {0.001, longest_s}, "that are measured"),
      seconds("warm_up_s", &P::warm_up_s, {0, 60}, "of the same before"),
      text("interface", &P::interface, "whose addresses are used; empty: loopback on one node, else by the route"),
      choice("ip", &P::ip, versions(), "which version of IP"),
  };
}

Table<P> socket_fields() {
  return {
      bytes("send_buffer_bytes", &P::send_buffer_bytes, {0, 1 << 30}, "SO_SNDBUF; 0: as the kernel has it"),
      bytes("receive_buffer_bytes", &P::receive_buffer_bytes, {0, 1 << 30}, "SO_RCVBUF; 0: as the kernel has it"),
      bytes("receive_bytes", &P::receive_bytes, {0, 1 << 30},
            "of a call that receives of a tcp stream; 0: block_bytes"),
      flag("no_delay", &P::no_delay, "TCP_NODELAY: small messages do not wait for others"),
      flag("zero_copy", &P::zero_copy, "MSG_ZEROCOPY for tcp streams: the kernel sends from our pages"),
      choice("batch", &P::batch, batches(), "datagrams of a udp stream that one call hands over"),
      rate("rate", &P::rate, {0, 1e15}, "of each udp stream; 0: as fast as it can"),
      seconds("resend_s", &P::resend_s, {0.001, 10}, "without an answer a udp request or an echo is lost"),
      flag("spin", &P::spin, "requests are waited for awake, by calls that do not block"),
      count("busy_poll_us", &P::busy_poll_us, {0, 1'000'000}, "SO_BUSY_POLL of requests; 0: as the kernel has it"),
      seconds("patience_s", &P::patience_s, {0.1, 600}, "until a peer that does not answer is an error"),
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
  return {
      {is_stream && is_icmp(p), "/mode", "must be request: echoes are no stream"},
      {is_icmp(p) && p.streams > 1, "/streams", "must be 1 for echoes"},
      {!is_tcp && p.block_bytes > largest_datagram, "/block_bytes", "must be at most 65507: a datagram"},
      {!is_tcp && p.no_delay, "/no_delay", "is of tcp only"},
      {is_icmp(p) && p.send_buffer_bytes > 0, "/send_buffer_bytes", "is of tcp and udp only"},
      {is_icmp(p) && p.receive_buffer_bytes > 0, "/receive_buffer_bytes", "is of tcp and udp only"},
  };
}

std::vector<Rule> rules_of_streams(const P& p) {
  const bool is_tcp = is_stream_of(p, SocketProtocol::tcp);
  const bool is_udp = is_stream_of(p, SocketProtocol::udp);
  return {
      {is_udp && p.block_bytes < datagram_header_bytes, "/block_bytes",
       "must be 16 or more: a datagram's number and stamp"},
      {!is_tcp && p.zero_copy, "/zero_copy", "is of tcp streams only"},
      {!is_tcp && p.receive_bytes > 0, "/receive_bytes", "is of tcp streams only"},
      {!is_udp && p.batch != DatagramBatch::gso, "/batch", "is of udp streams only"},
      {!is_udp && p.rate > 0, "/rate", "is of udp streams only"},
  };
}

std::vector<Rule> rules_of_requests(const P& p) {
  const bool is_stream = p.mode == SocketMode::stream;
  const bool has_calls = !is_stream && !is_icmp(p);
  return {
      {!is_stream && p.direction == SocketDirection::both, "/direction", "must be forward for requests"},
      {!has_calls && p.spin, "/spin", "is of tcp and udp requests only"},
      {!has_calls && p.busy_poll_us > 0, "/busy_poll_us", "is of tcp and udp requests only"},
  };
}

}  // namespace

Table<SocketsParameters> SocketsParameters::table() { return joined<P>(job_fields(), socket_fields()); }

std::string word_of(DatagramBatch batch) { return detail::word_of(batches(), batch); }

Status check_sockets(const SocketsParameters& p, int ranks, const std::string& pointer) {
  if (ranks < 2) return fail(bad_plan(pointer, "needs two ranks at least: each has another one as its peer"));
  for (const auto& rules : {rules_of_jobs(p), rules_of_streams(p), rules_of_requests(p)})
    for (const Rule& rule : rules)
      if (rule.broken) return fail(bad_plan(pointer + rule.parameter, rule.text));
  return {};
}

}  // namespace ullage
