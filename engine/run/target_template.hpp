// SPDX-License-Identifier: Apache-2.0
// Targets whose path differs between ranks: words in braces stand for where a rank is.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "mpi/comm.hpp"
#include "run/plan.hpp"

namespace ullage {

/// Says where a rank is. `socket` (package) and `numa` (NUMA node): nothing where the CPUs on which it may run are of
/// several, since it could move between them.
struct RankLocation {
  int rank = 0;
  int local_rank = 0;
  int node = 0;
  std::string host;
  std::optional<int> socket;
  std::optional<int> numa;
};

[[nodiscard]] RankLocation locate_rank(const mpi::World& world);

/// `path` with {rank}, {local_rank}, {node} (number of the node among those of the launch), {host}, {socket} and {numa}
/// replaced. An error for another word, and for one that is not settled for this rank.
[[nodiscard]] Result<std::string> expand_path(const std::string& path, const RankLocation& location);

/// The paths of all targets on this rank. A shared file cannot lie in several folders, which is an error.
[[nodiscard]] Status expand_targets(Plan& plan, const mpi::World& world);

}  // namespace ullage
