// SPDX-License-Identifier: Apache-2.0
#include "core/cpu_order.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

namespace ullage {

std::string core_of(int cpu) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
  std::string siblings;
  std::getline(file, siblings);
  return siblings;
}

std::vector<int> cores_first(std::span<const int> cpus, const CoreOf& of) {
  std::map<std::string, int> seen;
  std::vector<std::pair<int, int>> turns;  // how many of its core came before a CPU, and the CPU
  for (const int cpu : cpus) {
    const std::string core = of(cpu);
    turns.emplace_back(core.empty() ? 0 : seen[core]++, cpu);
  }
  std::ranges::stable_sort(turns, {}, &std::pair<int, int>::first);
  std::vector<int> ordered;
  ordered.reserve(turns.size());
  for (const auto& [turn, cpu] : turns) ordered.push_back(cpu);
  return ordered;
}

}  // namespace ullage
