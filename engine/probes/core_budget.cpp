// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/affinity.hpp"
#include "base/cgroup.hpp"
#include "base/procfs.hpp"
#include "base/std.hpp"
#include "probes/probe.hpp"

namespace ullage {
namespace {

constexpr const char* online_cpus = "/sys/devices/system/cpu/online";

/// The different CPUs that the ranks of the node may use together.
std::vector<int> cpus_of_ranks(const mpi::World& world, const std::vector<int>& own) {
  const int highest = own.empty() ? -1 : own.back();
  std::vector<std::int64_t> used(static_cast<std::size_t>(world.node().max(highest) + 1), 0);
  for (const int cpu : own) used[static_cast<std::size_t>(cpu)] = 1;
  world.node().max_all(used);
  std::vector<int> cpus;
  for (std::size_t cpu = 0; cpu < used.size(); ++cpu)
    if (used[cpu] != 0) cpus.push_back(static_cast<int>(cpu));
  return cpus;
}

/// The node's CPUs that the control group lets this process use.
std::vector<int> cpus_of_node() { return cgroup_cpus().value_or(parse_cpu_list(read_text(online_cpus).value_or(""))); }

}  // namespace

CoreBudget core_budget(const mpi::World& world) {
  const std::vector<int> own = own_cpus();
  auto allowed = static_cast<int>(parse_cpu_list(read_text(online_cpus).value_or("")).size());
  if (const auto set = cgroup_cpus()) allowed = std::min(allowed, static_cast<int>(set->size()));
  CoreBudget budget;
  budget.pinned = !own.empty() && (static_cast<int>(own.size()) < allowed || allowed == 1);
  budget.cpus = cpus_of_ranks(world, own);
  budget.cores_available = std::max(1, static_cast<int>(budget.cpus.size()));
  if (const auto quota = cgroup_cpu_quota())
    budget.cores_available = std::clamp(static_cast<int>(std::floor(*quota)), 1, budget.cores_available);
  return budget;
}

std::vector<int> cpus_of_no_rank(const mpi::World& world) {
  return spare_cpus(cpus_of_node(), cpus_of_ranks(world, own_cpus()));
}

}  // namespace ullage
