// SPDX-License-Identifier: Apache-2.0
// Memory nodes: which there are, whose CPUs they are, and binding memory to one.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <map>

#include "base/procfs.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

/// The kernel lists its nodes here.
inline constexpr const char* node_folder = "/sys/devices/system/node";

inline std::vector<int> numbers_in(const std::string& path) {
  const auto text = read_word(path);
  return text ? parse_cpu_list(*text) : std::vector<int>{};
}

/// Nodes that have memory, ascending; {0} where the kernel lists none.
[[nodiscard]] inline std::vector<int> memory_nodes(const std::string& folder = node_folder) {
  std::vector<int> nodes = numbers_in(folder + "/has_memory");
  if (nodes.empty()) nodes.push_back(0);
  return nodes;
}

/// Nodes that have CPUs, likewise.
[[nodiscard]] inline std::vector<int> cpu_nodes(const std::string& folder = node_folder) {
  std::vector<int> nodes = numbers_in(folder + "/has_cpu");
  if (nodes.empty()) nodes.push_back(0);
  return nodes;
}

inline std::string listed(std::span<const int> nodes) {
  std::string text;
  for (const int node : nodes) text += (text.empty() ? "" : ", ") + std::to_string(node);
  return text;
}

/// Those of `allowed` that belong to `node`; an error that names the nodes there are when it has none of them.
[[nodiscard]] inline Result<std::vector<int>> cpus_of_node(int node, std::span<const int> allowed,
                                                           const std::string& folder = node_folder) {
  const std::vector<int> nodes = cpu_nodes(folder);
  const std::string where = "cpu_node " + std::to_string(node);
  if (std::ranges::find(nodes, node) == nodes.end())
    return fail(environment_error(where, "there is no such node; nodes with CPUs: " + listed(nodes)));
  const std::vector<int> of_node = numbers_in(folder + "/node" + std::to_string(node) + "/cpulist");
  std::vector<int> chosen;
  for (const int cpu : allowed)
    if (of_node.empty() || std::ranges::find(of_node, cpu) != of_node.end()) chosen.push_back(cpu);
  if (chosen.empty()) return fail(environment_error(where, "this process may run on none of its CPUs"));
  return chosen;
}

inline constexpr int policy_bind = 2;  // MPOL_BIND of linux/mempolicy.h; libnuma, which wraps it, is not everywhere
inline constexpr int most_nodes = 1024;
inline constexpr int word_bits = sizeof(unsigned long) * CHAR_BIT;

/// Pages of `memory` that are touched from now on come from `node` alone. `memory` begins at a page. An error when
/// there is no such node or the system does not let us.
[[nodiscard]] inline Status bind_to_node(std::span<std::byte> memory, int node) {
  const std::vector<int> nodes = memory_nodes();
  const std::string where = "memory_node " + std::to_string(node);
  if (node >= most_nodes || std::ranges::find(nodes, node) == nodes.end())
    return fail(environment_error(where, "there is no such node; nodes with memory: " + listed(nodes)));
  if (nodes.size() == 1) return {};  // all memory is there; the call may not even exist
  std::array<unsigned long, most_nodes / word_bits> mask{};
  mask.at(static_cast<std::size_t>(node / word_bits)) |= 1UL << (node % word_bits);
  if (syscall(SYS_mbind, memory.data(), memory.size(), policy_bind, mask.data(), most_nodes + 1UL, 0U) == 0) return {};
  return fail(environment_error(where, std::string("mbind: ") + std::strerror(errno)));
}

/// Returns how many of the pages of `memory` lie on each node, of those that are there; of many pages some, evenly
/// spread. Nothing where the system does not say.
[[nodiscard]] inline std::map<int, std::uint64_t> pages_on_nodes(std::span<const std::byte> memory) {
  constexpr std::size_t most_asked = 1024;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t pages = (memory.size() + page - 1) / page;
  const std::size_t asked = std::min(pages, most_asked);
  std::vector<const void*> addresses(asked);
  std::vector<int> nodes(asked, -1);
  for (std::size_t i = 0; i < asked; ++i) addresses[i] = memory.data() + i * pages / asked * page;
  std::map<int, std::uint64_t> counts;
  if (syscall(SYS_move_pages, 0, asked, addresses.data(), nullptr, nodes.data(), 0) != 0) return counts;
  for (const int node : nodes)
    if (node >= 0) ++counts[node];  // else an errno: no page is there yet
  return counts;
}

}  // namespace ullage
