// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/pairing.hpp"

namespace ullage {

Pairing pair_of(const mpi::Topology& topology, int next, int previous) {
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

Pairing pair_up(const mpi::World& world) {
  const int next = world.rank_on_other_node(1);
  const int previous = world.rank_on_other_node(-1);
  return pair_of(world.topology(), next, previous);
}

}  // namespace ullage
