// SPDX-License-Identifier: Apache-2.0
// Signs of life between nodes: the leader of each sends datagrams to that of the next one, outside MPI, whose calls a
// rank that waits cannot leave. A node that hangs, or all of whose ranks are stopped, is found by the next. By the same
// datagrams a request to stop goes down a tree of the leaders, so that one rank of the job alone looks for it.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
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

class NodeRing final {
 public:
  /// Collective. Does nothing where there is one node, and for ranks that are no leaders.
  explicit NodeRing(const mpi::World& world);

  // What follows is called by one thread.

  /// To every address that the next leader has, and those below this one in the tree: which of them they can be reached
  /// by shows in what they hear.
  void send() noexcept;
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
  [[nodiscard]] std::optional<Neighbour> silent_node(std::int64_t now_ns, std::int64_t limit_ns) noexcept;
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
  void open_sockets();
  [[nodiscard]] std::string own_addresses() const;
  [[nodiscard]] static Addresses addresses_of(const std::string& text);
  void meet_children(const mpi::Comm& leaders);
  void send_to(const Addresses& addresses) const noexcept;
  [[nodiscard]] Received receive() noexcept;

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
