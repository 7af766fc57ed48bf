// SPDX-License-Identifier: Apache-2.0
// How two ranks come to be connected: addresses and ports go by MPI, everything else by the sockets.
#pragma once

#include "base/clock.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "message/sockets/endpoint.hpp"
#include "message/sockets/local_socket.hpp"
#include "message/sockets/socket.hpp"
#include "mpi/comm.hpp"

namespace ullage {

/// The rank that another one exchanges bytes with.
struct Pairing {
  static constexpr int nobody = -1;
  int peer = nobody;      // this rank has no part where it is nobody
  bool is_first = false;  // the lower rank of the two: it decides, and it sends
  bool same_host = true;

  [[nodiscard]] bool takes_part() const { return peer != nobody; }
};

/// On several nodes rank i of an even one meets rank i of the next one, as far as both have such a rank; the last of an
/// odd number has no part. On one node each even rank meets the next. `next` and `previous` are the ranks of the same
/// place on the nodes beside (World::rank_on_other_node).
[[nodiscard]] inline Pairing pair_of(const mpi::Topology& topology, int next, int previous) {
  if (topology.nodes == 1) {
    const int peer = topology.rank ^ 1;
    return {peer < topology.ranks ? peer : Pairing::nobody, topology.rank < peer, true};
  }
  const bool is_even = topology.node % 2 == 0;
  const bool has_node = !is_even || topology.node + 1 < topology.nodes;
  const bool has_place = topology.rank_on_node < topology.fewest_ranks_on_a_node;
  if (!has_node || !has_place) return {Pairing::nobody, false, false};
  const int peer = is_even ? next : previous;
  return {peer, topology.rank < peer, false};
}

/// Does the same, asking for what it needs. Collective.
[[nodiscard]] inline Pairing pair_up(const mpi::World& world) {
  const int next = world.rank_on_other_node(1);
  const int previous = world.rank_on_other_node(-1);
  return pair_of(world.topology(), next, previous);
}

/// Holds what a rank of a pair holds.
struct Connections {
  Link link;
  Socket control;               // tcp, for a byte now and then
  std::vector<Socket> streams;  // connected; none for icmp
  std::vector<PipePair> pipes;  // beside each of these, where they are asked for
};

/// A stranger who connects and says nothing is waited for so long.
inline constexpr std::int64_t hello_ns = 2'000'000'000;

struct Hello {
  std::uint64_t key = 0;
  std::uint64_t index = 0;
};

inline Result<Json> as_json(const Result<std::vector<Endpoint>>& endpoints) {
  if (!endpoints) return fail(endpoints.error());
  Json list = Json::array();
  for (const Endpoint& one : *endpoints) list.push_back(to_json(one));
  return list;
}

inline std::vector<Endpoint> endpoints_of(const Json& list) {
  std::vector<Endpoint> endpoints;
  for (const Json& one : list) endpoints.push_back(endpoint_from(one));
  return endpoints;
}

inline constexpr int tag_meeting = 73;

/// Peers of a meeting that ended badly on the other side.
inline Error error_of_peer(int peer, const std::string& text) {
  return environment_error("rank " + std::to_string(peer), text);
}

/// Gives `mine`, or why there is none, to the peer and takes its; the error is this rank's own where both have one.
[[nodiscard]] inline Result<Json> swap_with_peer(const mpi::Comm& comm, const Pairing& pairing,
                                                 const Result<Json>& mine) {
  const Json letter = mine ? Json{{"value", *mine}} : Json{{"error", to_line(mine.error())}};
  const std::string text = json_text(letter);
  if (pairing.is_first) comm.send(text, pairing.peer, tag_meeting);
  const Json theirs = parse_json(comm.receive_text(pairing.peer, tag_meeting));
  if (!pairing.is_first) comm.send(text, pairing.peer, tag_meeting);
  if (!mine) return fail(mine.error());
  if (theirs.contains("error")) return fail(error_of_peer(pairing.peer, theirs["error"].get<std::string>()));
  return theirs["value"];
}

/// One meeting, step by step; each step ends with both sides knowing whether to go on.
class Meeting final {
 public:
  Meeting(const mpi::Comm& comm, const Pairing& pairing, const SocketsParameters& parameters, std::uint64_t key)
      : comm_(comm), pairing_(pairing), p_(parameters), key_(key) {}

  [[nodiscard]] Result<Connections> hold() {
    if (stays_on_node(p_) && !pairing_.same_host)
      return fail(environment_error("protocol", "not available: the ranks of a pair are on different nodes"));
    if (const Status done = choose_addresses(); !done) return fail(done.error());
    const auto ports = swap_with_peer(comm_, pairing_, catch_resource_errors([this] { return open_sockets(); }));
    if (!ports) return fail(ports.error());
    const Status done = pairing_.is_first ? connect_all(*ports) : accept_all(*ports);
    if (!done) return fail(done.error());
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::size_t stream_count() const {
    return p_.protocol == SocketProtocol::icmp ? 0 : static_cast<std::size_t>(p_.streams);
  }
  [[nodiscard]] bool is_udp() const { return p_.protocol == SocketProtocol::udp; }
  /// Returns how many tcp connections there are, the control's among them.
  [[nodiscard]] std::size_t connection_count() const {
    return 1 + (p_.protocol == SocketProtocol::tcp ? stream_count() : 0);
  }
  [[nodiscard]] std::int64_t deadline_ns() const { return now_ns() + static_cast<std::int64_t>(p_.patience_s * 1e9); }

  [[nodiscard]] Status choose_addresses() {
    const auto mine = usable_endpoints(local_endpoints(p_.ip), p_.interface, pairing_.same_host);
    const auto theirs = swap_with_peer(comm_, pairing_, as_json(mine));
    if (!theirs) return fail(theirs.error());
    if (pairing_.is_first) {
      made_.link = choose_link(*mine, endpoints_of(*theirs));
      const Json chosen{{"first", to_json(made_.link.mine)}, {"second", to_json(made_.link.theirs)}};
      const auto heard = swap_with_peer(comm_, pairing_, chosen);
      return heard ? Status{} : fail(heard.error());
    }
    const auto chosen = swap_with_peer(comm_, pairing_, Json::object());
    if (!chosen) return fail(chosen.error());
    made_.link = {endpoint_from((*chosen)["second"]), endpoint_from((*chosen)["first"])};
    return {};
  }

  /// Ports that the peer connects to.
  [[nodiscard]] Result<Json> open_sockets() {
    Json ports{{"listening", 0}, {"datagrams", Json::array()}};
    if (!pairing_.is_first)
      if (const Status done = listen(ports); !done) return fail(done.error());
    if (is_udp())
      if (const Status done = open_datagram_sockets(ports); !done) return fail(done.error());
    return ports;
  }

  [[nodiscard]] Status listen(Json& ports) {
    auto listening = listening_socket(made_.link.mine.address, p_.streams + 1);
    if (!listening) return fail(listening.error());
    listening_ = std::move(*listening);
    if (const Status set = apply_buffers(listening_, p_); !set) return set;
    const auto port = listening_.port();
    if (!port) return fail(port.error());
    ports["listening"] = *port;
    if (!stays_on_node(p_)) return {};
    auto local = listening_local_socket(p_.streams);
    if (!local) return fail(local.error());
    local_listening_ = std::move(local->socket);
    ports["local"] = local->name;
    return {};
  }

  [[nodiscard]] Status open_datagram_sockets(Json& ports) {
    for (std::size_t i = 0; i < stream_count(); ++i) {
      auto socket = datagram_socket(made_.link.mine.address);
      if (!socket) return fail(socket.error());
      if (const Status set = apply_buffers(*socket, p_); !set) return set;
      const auto port = socket->port();
      if (!port) return fail(port.error());
      ports["datagrams"].push_back(*port);
      made_.streams.push_back(std::move(*socket));
    }
    return {};
  }

  [[nodiscard]] Status connect_datagram_sockets(const Json& ports) {
    for (std::size_t i = 0; i < made_.streams.size(); ++i) {
      const auto port = ports["datagrams"][i].get<std::uint16_t>();
      if (const Status done = connect_datagrams(made_.streams[i], made_.link.theirs.address, port); !done) return done;
    }
    return {};
  }

  /// The first connection is the control's.
  [[nodiscard]] Status connect_all(const Json& ports) {
    const auto port = ports["listening"].get<std::uint16_t>();
    for (std::uint64_t index = 0; index < connection_count(); ++index) {
      auto socket = connected_socket(made_.link.mine.address, made_.link.theirs.address, port, p_);
      if (!socket) return fail(socket.error());
      const std::array hello{Hello{key_, index}};
      if (const Status said = send_until(*socket, std::as_bytes(std::span(hello)), deadline_ns()); !said) return said;
      if (index == 0)
        made_.control = std::move(*socket);
      else
        made_.streams.push_back(std::move(*socket));
    }
    if (stays_on_node(p_)) return connect_local(ports["local"].get<std::string>());
    return is_udp() ? connect_datagram_sockets(ports) : Status{};
  }

  [[nodiscard]] Status connect_local(const std::string& name) {
    for (std::uint64_t index = 0; index < stream_count(); ++index) {
      auto socket = connected_local_socket(name);
      if (!socket) return fail(socket.error());
      if (const Status set = apply_buffers(*socket, p_); !set) return set;
      const std::array hello{Hello{key_, index}};
      if (const Status said = send_until(*socket, std::as_bytes(std::span(hello)), deadline_ns()); !said) return said;
      if (p_.protocol == SocketProtocol::pipe) {
        auto pipes = make_pipes();
        if (!pipes) return fail(pipes.error());
        if (const Status sent = send_pipes(*socket, *pipes); !sent) return sent;
        made_.pipes.push_back(std::move(*pipes));
      }
      made_.streams.push_back(std::move(*socket));
    }
    return {};
  }

  /// In the order in which the peer connects; strangers are passed over.
  [[nodiscard]] Status accept_local(std::int64_t until_ns) {
    while (made_.streams.size() < stream_count()) {
      auto socket = accept_until(local_listening_, until_ns);
      if (!socket) return fail(socket.error());
      if (const auto index = index_of(*socket); !index || *index != made_.streams.size()) continue;
      if (const Status set = apply_buffers(*socket, p_); !set) return set;
      if (p_.protocol == SocketProtocol::pipe) {
        auto pipes = receive_pipes(*socket, until_ns);
        if (!pipes) return fail(pipes.error());
        made_.pipes.push_back(std::move(*pipes));
      }
      made_.streams.push_back(std::move(*socket));
    }
    return {};
  }

  [[nodiscard]] Status accept_all(const Json& ports) {
    std::vector<Socket> accepted(connection_count());
    const std::int64_t until_ns = deadline_ns();
    for (std::size_t lacking = accepted.size(); lacking > 0;) {
      auto socket = accept_until(listening_, until_ns);
      if (!socket) return fail(socket.error());
      const auto index = index_of(*socket);
      if (!index || *index >= accepted.size() || accepted[*index].is_open()) continue;
      if (p_.no_delay)
        if (const Status set = apply_buffers(*socket, p_); !set) return set;
      accepted[*index] = std::move(*socket);
      --lacking;
    }
    made_.control = std::move(accepted.front());
    for (std::size_t i = 1; i < accepted.size(); ++i) made_.streams.push_back(std::move(accepted[i]));
    if (stays_on_node(p_)) return accept_local(until_ns);
    return is_udp() ? connect_datagram_sockets(ports) : Status{};
  }

  /// Returns which connection this is; nothing for a stranger's.
  [[nodiscard]] std::optional<std::size_t> index_of(const Socket& socket) const {
    std::array<Hello, 1> hello{};
    const Status heard = receive_until(socket, std::as_writable_bytes(std::span(hello)), now_ns() + hello_ns);
    if (!heard || hello[0].key != key_) return std::nullopt;
    return static_cast<std::size_t>(hello[0].index);
  }

  const mpi::Comm& comm_;
  const Pairing& pairing_;
  const SocketsParameters& p_;
  std::uint64_t key_;
  Socket listening_;
  Socket local_listening_;
  Connections made_;
};

/// Both ranks of a pair call it at the same time. Where it fails on one of them it fails on the other, by its message
/// or after the patience. `key` is the same on both and known to nobody else: strangers who connect are turned away.
[[nodiscard]] inline Result<Connections> meet(const mpi::Comm& comm, const Pairing& pairing,
                                              const SocketsParameters& parameters, std::uint64_t key) {
  return Meeting(comm, pairing, parameters, key).hold();
}

}  // namespace ullage
