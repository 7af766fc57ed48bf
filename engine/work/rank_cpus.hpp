// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/affinity.hpp"
#include "mpi/comm.hpp"

namespace ullage {

/// A CPU for each thread of this rank, after those of the ranks before it on its node; of `cpus`, or where that is
/// empty of all that the process may run on.
[[nodiscard]] inline std::vector<int> cpus_of_rank(const mpi::Topology& topology, int threads,
                                                   std::span<const int> cpus = {}) {
  const auto count = static_cast<std::size_t>(threads);
  const auto place = static_cast<std::size_t>(topology.rank_on_node);
  return cpus.empty() ? choose_cpus(allowed_cpus(), place * count, count) : choose_cpus(cpus, place * count, count);
}

}  // namespace ullage
