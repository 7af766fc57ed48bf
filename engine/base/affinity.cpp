// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_order.hpp"

#include <fstream>
#include <map>

namespace ullage {

std::string core_of(int cpu) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
  std::string siblings;
  std::getline(file, siblings);
  return siblings;
}

std::vector<int> cores_first(std::span<const int> cpus, const CoreOf& of) {
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

}  // namespace ullage
