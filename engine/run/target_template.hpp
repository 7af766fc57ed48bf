// SPDX-License-Identifier: Apache-2.0
// Targets whose path differs between ranks: words in braces stand for where a rank is.
#pragma once

#include "base/affinity.hpp"
#include "base/procfs.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "memory/numa.hpp"
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

/// The one number that `of` says of all `cpus`; nothing where they differ or it does not say.
template <class Of>
std::optional<int> common(const std::vector<int>& cpus, Of of) {
  std::optional<int> found;
  for (const int cpu : cpus) {
    const std::optional<int> number = of(cpu);
    if (!number || (found && *found != *number)) return std::nullopt;
    found = number;
  }
  return found;
}

inline std::optional<int> package_of(int cpu) {
  const auto word = read_word("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id");
  const auto number = word ? number_of(*word) : std::nullopt;
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

inline std::optional<int> numa_node_of(int cpu) {
  for (const int node : cpu_nodes())
    if (cpus_of_node(node, std::span(&cpu, 1))) return node;
  return std::nullopt;
}

[[nodiscard]] inline RankLocation locate_rank(const mpi::World& world) {
  const mpi::Topology& topology = world.topology();
  const std::vector<int> cpus = own_cpus();
  return {topology.rank,      topology.rank_on_node,    topology.node,
          topology.node_name, common(cpus, package_of), common(cpus, numa_node_of)};
}

inline Result<std::string> value_of(const std::string& word, const RankLocation& location) {
  const auto number = [](int value) { return std::optional(value); };
  const std::array<std::pair<const char*, std::optional<int>>, 5> numbers{{{"rank", number(location.rank)},
                                                                           {"local_rank", number(location.local_rank)},
                                                                           {"node", number(location.node)},
                                                                           {"socket", location.socket},
                                                                           {"numa", location.numa}}};
  if (word == "host") return location.host;
  const auto known = std::ranges::find(numbers, word, [](const auto& entry) { return std::string(entry.first); });
  if (known == numbers.end())
    return fail(environment_error(
        "{" + word + "}",
        "is no word of a target's path; use {rank}, {local_rank}, {node}, {host}, {socket} or {numa}"));
  if (known->second) return std::to_string(*known->second);
  return fail(environment_error("{" + word + "}", "differs between the CPUs on which rank " +
                                                      std::to_string(location.rank) +
                                                      " may run; bind each rank to a core"));
}

/// `path` with {rank}, {local_rank}, {node} (number of the node among those of the launch), {host}, {socket} and {numa}
/// replaced. An error for another word, and for one that is not settled for this rank.
[[nodiscard]] inline Result<std::string> expand_path(const std::string& path, const RankLocation& location) {
  std::string expanded;
  std::size_t at = 0;
  for (;;) {
    const std::size_t open = path.find('{', at);
    expanded += path.substr(at, open == std::string::npos ? open : open - at);
    if (open == std::string::npos) return expanded;
    const std::size_t close = path.find('}', open);
    if (close == std::string::npos) return fail(environment_error(path, "has a '{' without its '}'"));
    const auto value = value_of(path.substr(open + 1, close - open - 1), location);
    if (!value) return fail(value.error());
    expanded += *value;
    at = close + 1;
  }
}

inline bool is_template(const PlannedTarget& target) { return target.path.find('{') != std::string::npos; }

/// A shared file is one file.
inline bool shares_a_file(const PlannedCase& planned) {
  const auto mode = planned.workload.values.find("file_mode");
  return mode != planned.workload.values.end() && mode->second == Value{std::string("shared")};
}

/// The paths of all targets on this rank. A shared file cannot lie in several folders, which is an error.
[[nodiscard]] inline Status expand_targets(Plan& plan, const mpi::World& world) {
  std::optional<RankLocation> location;
  for (PlannedTarget& target : plan.targets) {
    if (!is_template(target)) continue;
    for (const PlannedCase& planned : plan.cases)
      if (planned.target == target.name && shares_a_file(planned))
        return fail(environment_error("target '" + target.name + "'",
                                      "has a folder for each rank or node, so file_mode must be per-process"));
    if (!location) location = locate_rank(world);
    if (auto status = take_into(target.path, expand_path(target.path, *location)); !status) return status;
  }
  return {};
}

}  // namespace ullage
