// SPDX-License-Identifier: Apache-2.0
// Signs of life between nodes: the leader of each sends datagrams to that of the next one, outside MPI, whose calls a
// rank that waits cannot leave. A node that hangs, or all of whose ranks are stopped, is found by the next.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpi/comm.hpp"
#include "run/standstill.hpp"
#include "storage/descriptor.hpp"

namespace ullage {

class NodeRing final {
 public:
  /// Collective. Does nothing where there is one node, and for ranks that are no leaders.
  explicit NodeRing(const mpi::World& world);

  // From here on called by one thread.

  /// To every address that the next leader has: which of them it can be reached by shows in what it hears.
  void send() noexcept;
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
  void open_sockets();
  [[nodiscard]] std::string own_addresses() const;
  void take_addresses(const std::string& text);
  /// Whether anything came since the last look.
  [[nodiscard]] bool receive() noexcept;

  Descriptor v4_;
  Descriptor v6_;
  std::vector<Address> next_;
  Neighbour before_;
  std::uint64_t key_ = 0;  // of this launch: strangers' datagrams are none of its signs
  bool heard_ = false;
  Standstill silence_;
};

}  // namespace ullage
