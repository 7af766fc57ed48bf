// SPDX-License-Identifier: Apache-2.0
// On which CPUs threads may run, and in which order they take them: each core once before any is taken twice.
#pragma once

#include <sched.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "base/std.hpp"

namespace ullage {

/// Names the core of a CPU: the same text for those that share one (the kernel's thread_siblings_list); empty
/// where the system does not say.
using CoreOf = std::function<std::string(int cpu)>;

[[nodiscard]] inline std::string core_of(int cpu) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
  std::string siblings;
  std::getline(file, siblings);
  return siblings;
}

/// `cpus` with the first of each core before the second of any, else in the order given. Those of no known core are
/// each a core of its own.
[[nodiscard]] inline std::vector<int> cores_first(std::span<const int> cpus, const CoreOf& of = core_of) {
  std::map<std::string, int> seen;
  std::map<int, std::vector<int>> turns;  // by how many of its core came before a CPU
  for (const int cpu : cpus) {
    const std::string core = of(cpu);
    turns[core.empty() ? 0 : seen[core]++].push_back(cpu);
  }
  std::vector<int> ordered;
  ordered.reserve(cpus.size());
  for (const auto& [turn, of_turn] : turns) ordered.insert(ordered.end(), of_turn.begin(), of_turn.end());
  return ordered;
}

/// A mask of so many CPUs: the kernel refuses one that is smaller than its own.
inline constexpr int most_cpus = 8192;

struct CpuMask {
  std::vector<cpu_set_t> sets = std::vector<cpu_set_t>(most_cpus / CPU_SETSIZE);
  [[nodiscard]] std::size_t bytes() const { return sets.size() * sizeof(cpu_set_t); }
};

/// CPUs this thread may run on, in the kernel's order; empty where the kernel does not say.
[[nodiscard]] inline std::vector<int> own_cpus() {
  CpuMask mask;
  std::vector<int> cpus;
  if (sched_getaffinity(0, mask.bytes(), mask.sets.data()) != 0) return cpus;
  for (int cpu = 0; cpu < most_cpus; ++cpu)
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), mask.bytes(), mask.sets.data())) cpus.push_back(cpu);
  return cpus;
}

/// Returns the same as threads take them, cores first; never empty.
[[nodiscard]] inline std::vector<int> allowed_cpus() {
  std::vector<int> cpus = own_cpus();
  if (cpus.empty()) cpus.push_back(0);
  return cores_first(cpus);
}

/// `count` of `cpus` from number `first` on, each once before any is taken again.
[[nodiscard]] inline std::vector<int> choose_cpus(std::span<const int> cpus, std::size_t first, std::size_t count) {
  std::vector<int> chosen;
  chosen.reserve(count);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(cpus[(first + i) % cpus.size()]);
  return chosen;
}

/// Those of `cpus` that are not `used`, without the ones that share a core with a used one where others are left.
[[nodiscard]] inline std::vector<int> spare_cpus(std::span<const int> cpus, std::span<const int> used,
                                                 const CoreOf& of = core_of) {
  std::set<std::string> used_cores;
  for (const int cpu : used) used_cores.insert(of(cpu));
  used_cores.erase("");  // of no known core
  std::vector<int> beside;
  std::vector<int> apart;
  for (const int cpu : cpus) {
    if (std::ranges::find(used, cpu) != used.end()) continue;
    (used_cores.contains(of(cpu)) ? beside : apart).push_back(cpu);
  }
  return apart.empty() ? beside : apart;
}

/// Keeps this thread on these CPUs from now on. False: the system does not let it.
[[nodiscard]] inline bool keep_on(std::span<const int> cpus) {
  CpuMask mask;
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= most_cpus) return false;
    CPU_SET_S(static_cast<std::size_t>(cpu), mask.bytes(), mask.sets.data());
  }
  return sched_setaffinity(0, mask.bytes(), mask.sets.data()) == 0;
}

/// Keeps this thread on a CPU from now on. False: the system does not let it.
[[nodiscard]] inline bool pin_to(int cpu) { return keep_on(std::span(&cpu, 1)); }

}  // namespace ullage
