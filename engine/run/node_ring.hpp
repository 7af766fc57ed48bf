// SPDX-License-Identifier: Apache-2.0
// Signs of life between nodes: the leader of each sends datagrams to that of the next one, outside MPI, whose calls a
// rank that waits cannot leave. A node that hangs, or all of whose ranks are stopped, is found by the next. By the same
// datagrams a request to stop goes down a tree of the leaders, so that one rank of the job alone looks for it.
#pragma once

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/descriptor.hpp"
#include "base/hex.hpp"
#include "base/json.hpp"
#include "base/permutation.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "run/heartbeats.hpp"

namespace ullage {

/// The tree of `nodes` nodes in which a request goes from node 0 to all others, a step a level.
struct NodeTree {
  static constexpr int fan_out = 4;
  int nodes = 1;

  /// -1: node 0 has none.
  [[nodiscard]] constexpr int parent(int node) const noexcept { return node == 0 ? -1 : (node - 1) / fan_out; }
  [[nodiscard]] constexpr int first_child(int node) const noexcept { return node * fan_out + 1; }
  /// At most fan_out.
  [[nodiscard]] constexpr int children(int node) const noexcept {
    return std::clamp(nodes - first_child(node), 0, fan_out);
  }
};

inline constexpr int tag_addresses = 73;
inline constexpr int tag_neighbour = 74;
inline constexpr int tag_tree = 75;
inline constexpr std::size_t most_addresses = 16;

inline Descriptor datagram_socket(int family) {
  Descriptor made(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_storage any{};  // all addresses, any port
  any.ss_family = static_cast<sa_family_t>(family);
  const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  const int on = 1;
  if (made && family == AF_INET6) (void)setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (made && bind(made.get(), reinterpret_cast<const sockaddr*>(&any), length) != 0) made = Descriptor();
  return made;
}

inline std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (!socket || getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) return 0;
  return bound.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(bound).sin_port
                                    : reinterpret_cast<const sockaddr_in6&>(bound).sin6_port;
}

/// Up, and not this machine's alone. Link-local addresses mean nothing on another node.
inline bool is_reachable(const ifaddrs& one) {
  if (one.ifa_addr == nullptr || (one.ifa_flags & IFF_UP) == 0 || (one.ifa_flags & IFF_LOOPBACK) != 0) return false;
  if (one.ifa_addr->sa_family == AF_INET) return true;
  return one.ifa_addr->sa_family == AF_INET6 &&
         !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(one.ifa_addr)->sin6_addr);
}

struct FreeAddresses {
  void operator()(ifaddrs* list) const noexcept { freeifaddrs(list); }
};

inline constexpr std::size_t most_text = 4096;

/// Each gets what the rank `shift` leaders further has.
inline std::string shifted(const mpi::Comm& leaders, const std::string& text, int shift, int tag) {
  std::array<char, most_text> out{};
  std::array<char, most_text> in{};
  std::copy_n(text.begin(), std::min(text.size(), most_text - 1), out.begin());
  const int size = leaders.size();
  leaders.exchange(std::as_bytes(std::span(out)), (leaders.rank() - shift + size) % size,
                   std::as_writable_bytes(std::span(in)), (leaders.rank() + shift + size) % size, tag);
  return in.data();
}

class NodeRing final {
 public:
  /// Collective. Does nothing where there is one node, and for ranks that are no leaders.
  explicit NodeRing(const mpi::World& world) {
    const mpi::Topology& topology = world.topology();
    if (topology.nodes < 2) return;
    sign_.key =
        static_cast<std::uint64_t>(world.all().broadcast(world.root() ? stable_hash(new_nonce()) : std::int64_t{0}, 0));
    sign_.node = topology.node;
    const mpi::Comm leaders = world.all().split(topology.leader() ? 0 : 1, topology.rank);
    if (!topology.leader()) return;
    open_sockets();
    next_ = addresses_of(shifted(leaders, own_addresses(), 1, tag_addresses));
    node_before_ = (topology.node + topology.nodes - 1) % topology.nodes;
    meet_children(leaders);
    const Json own{{"rank", topology.rank}, {"node", topology.node_name.substr(0, 1024)}};
    const Json before = parse_json(shifted(leaders, json_text(own), -1, tag_neighbour));
    if (before.is_object()) before_ = {before.value("rank", -1), before.value("node", "")};
    // Sockets of all leaders are open now. A node that hangs from its first moment has been heard of, too.
    send();
  }

  // What follows is called by one thread.

  /// To every address that the next leader has, and those below this one in the tree: which of them they can be reached
  /// by shows in what they hear.
  void send() noexcept {
    sign_.stops = 0;
    send_to(next_);
    sign_.stops = stops_ ? 1 : 0;
    for (const Addresses& child : children_) send_to(child);
  }

  /// From now on every send() tells the nodes below this one to stop.
  void pass_stop() noexcept { stops_ = true; }
  [[nodiscard]] bool stops() const noexcept { return stops_; }
  /// The node above this one in the tree has said so. Seen by silent_node().
  [[nodiscard]] bool told_to_stop() const noexcept { return told_to_stop_; }
  /// Returns for how long nothing came from the node above this one, in looks of silent_node(); 0 on node 0.
  [[nodiscard]] std::int64_t parent_silent_ns() const noexcept { return parent_silent_ns_; }
  /// The leader before this one.
  struct Neighbour {
    int rank = -1;
    std::string node;
  };

  /// The node before this one when nothing came from it for `limit_ns` of the time in which this rank was running. One
  /// of which nothing was ever heard cannot reach this node, and is not watched.
  [[nodiscard]] std::optional<Neighbour> silent_node(std::int64_t now_ns, std::int64_t limit_ns) noexcept {
    if (before_.rank < 0) return std::nullopt;
    const Received heard = receive();
    heard_ = heard_ || heard.before;
    if (parent_ >= 0) parent_silent_ns_ = parent_silence_.look(heard.parent, now_ns);
    if (silence_.look(heard.before, now_ns) < limit_ns || !heard_) return std::nullopt;
    return before_;
  }

  [[nodiscard]] bool heard() const noexcept { return heard_; }

 private:
  struct Address {
    sockaddr_storage bytes{};
    socklen_t length = 0;
  };
  using Addresses = std::vector<Address>;
  /// The content of a datagram.
  struct Datagram {
    std::uint64_t key = 0;  // of this launch: strangers' datagrams are none of its signs
    std::int32_t node = -1;
    std::int32_t stops = 0;
  };
  /// Says whose datagrams came since the last look.
  struct Received {
    bool before = false;
    bool parent = false;
  };

  void open_sockets() {
    v4_ = datagram_socket(AF_INET);
    v6_ = datagram_socket(AF_INET6);
  }

  [[nodiscard]] std::string own_addresses() const {
    ifaddrs* found = nullptr;
    Json list = Json::array();
    if (getifaddrs(&found) != 0) return json_text(list);
    const std::unique_ptr<ifaddrs, FreeAddresses> owned(found);
    for (const ifaddrs* one = found; one != nullptr && list.size() < most_addresses; one = one->ifa_next) {
      if (!is_reachable(*one)) continue;
      const bool is_v4 = one->ifa_addr->sa_family == AF_INET;
      std::array<char, INET6_ADDRSTRLEN> text{};
      const void* const bytes =
          is_v4 ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr)
                : static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr);
      const std::uint16_t port = port_of(is_v4 ? v4_ : v6_);
      if (port != 0 && inet_ntop(one->ifa_addr->sa_family, bytes, text.data(), text.size()) != nullptr)
        list.push_back({{"v4", is_v4}, {"address", text.data()}, {"port", port}});
    }
    return json_text(list);
  }

  [[nodiscard]] static Addresses addresses_of(const std::string& text) {
    Addresses known;
    const Json list = parse_json(text);
    if (!list.is_array()) return known;
    for (const Json& one : list) {
      Address address;
      const std::string host = one.value("address", "");
      const auto port = one.value("port", std::uint16_t{0});
      if (one.value("v4", true)) {
        auto& v4 = reinterpret_cast<sockaddr_in&>(address.bytes);
        v4.sin_family = AF_INET;
        v4.sin_port = port;
        if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) address.length = sizeof(v4);
      } else {
        auto& v6 = reinterpret_cast<sockaddr_in6&>(address.bytes);
        v6.sin6_family = AF_INET6;
        v6.sin6_port = port;
        if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) address.length = sizeof(v6);
      }
      if (address.length > 0) known.push_back(address);
    }
    return known;
  }

  /// Whoever is above in the tree learns the addresses; all send before they receive, and node 0 sends to nobody.
  void meet_children(const mpi::Comm& leaders) {
    const NodeTree tree{leaders.size()};
    const int node = leaders.rank();
    parent_ = tree.parent(node);
    if (parent_ >= 0) leaders.send(own_addresses(), parent_, tag_tree);
    for (int i = 0; i < tree.children(node); ++i)
      children_.push_back(addresses_of(leaders.receive_text(tree.first_child(node) + i, tag_tree)));
  }

  void send_to(const Addresses& addresses) const noexcept {
    for (const Address& to : addresses) {
      const Descriptor& socket = to.bytes.ss_family == AF_INET ? v4_ : v6_;
      // A datagram that cannot be sent is one that is not heard.
      if (socket)
        (void)sendto(socket.get(), &sign_, sizeof(sign_), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to.bytes),
                     to.length);
    }
  }

  [[nodiscard]] Received receive() noexcept {
    Received heard;
    for (const Descriptor* socket : {&v4_, &v6_}) {
      Datagram sign;
      while (*socket) {
        const ssize_t got = recv(socket->get(), &sign, sizeof(sign), MSG_DONTWAIT);
        if (got < 0) break;
        if (got != sizeof(sign) || sign.key != sign_.key) continue;
        heard.before = heard.before || sign.node == node_before_;
        heard.parent = heard.parent || sign.node == parent_;
        told_to_stop_ = told_to_stop_ || (sign.stops != 0 && sign.node == parent_);
      }
    }
    return heard;
  }

  Descriptor v4_;
  Descriptor v6_;
  Addresses next_;
  std::vector<Addresses> children_;
  Neighbour before_;
  int node_before_ = -1;
  int parent_ = -1;
  Datagram sign_;
  bool heard_ = false;
  StallTimer silence_;
  bool stops_ = false;
  bool told_to_stop_ = false;
  StallTimer parent_silence_;
  std::int64_t parent_silent_ns_ = 0;
};

}  // namespace ullage
