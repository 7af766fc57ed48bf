// SPDX-License-Identifier: Apache-2.0
// How two ranks come to be connected: addresses and ports go by MPI, everything else by the sockets.
#pragma once

#include <vector>

#include "message/sockets/endpoint.hpp"
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
[[nodiscard]] Pairing pair_of(const mpi::Topology& topology, int next, int previous);

/// Does the same, asking for what it needs. Collective.
[[nodiscard]] Pairing pair_up(const mpi::World& world);

/// Holds what a rank of a pair holds.
struct Connections {
  Link link;
  Socket control;               // tcp, for a byte now and then
  std::vector<Socket> streams;  // connected; none for icmp
};

/// Both ranks of a pair call it at the same time. Where it fails on one of them it fails on the other, by its message
/// or after the patience. `key` is the same on both and known to nobody else: strangers who connect are turned away.
[[nodiscard]] Result<Connections> meet(const mpi::Comm& comm, const Pairing& pairing,
                                       const SocketsParameters& parameters, std::uint64_t key);

/// Gives `mine`, or why there is none, to the peer and takes its; the error is this rank's own where both have one.
[[nodiscard]] Result<Json> swap_with_peer(const mpi::Comm& comm, const Pairing& pairing, const Result<Json>& mine);

}  // namespace ullage
