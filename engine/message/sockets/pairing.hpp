// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace ullage
