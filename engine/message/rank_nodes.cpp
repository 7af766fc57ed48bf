// SPDX-License-Identifier: Apache-2.0
#include "message/rank_nodes.hpp"

#include <string>

namespace ullage {

std::vector<std::uint64_t> nodes_by_rank(const mpi::World& world) {
  const mpi::Topology& here = world.topology();
  if (here.ranks > most_listed_ranks) return {};
  std::vector<std::uint64_t> nodes(static_cast<std::size_t>(here.ranks), 0);
  nodes[static_cast<std::size_t>(here.rank)] = static_cast<std::uint64_t>(here.node);
  world.all().sum_all(nodes);
  return nodes;
}

Json nodes_json(const std::vector<std::uint64_t>& nodes) {
  Json json = Json::object();
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) json[std::to_string(rank)] = nodes[rank];
  return json;
}

}  // namespace ullage
