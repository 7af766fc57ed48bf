// SPDX-License-Identifier: Apache-2.0
// How two ranks come to be connected: addresses and ports go by MPI, everything else by the sockets.
#pragma once

#include <vector>

#include "message/sockets/endpoint.hpp"
#include "message/sockets/pairing.hpp"
#include "message/sockets/socket.hpp"
#include "mpi/comm.hpp"

namespace ullage {

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
