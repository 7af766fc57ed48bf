// SPDX-License-Identifier: Apache-2.0
// Memory nodes: which there are, whose CPUs they are, and binding memory to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ullage {

/// The kernel lists its nodes here.
inline constexpr const char* node_folder = "/sys/devices/system/node";

/// Nodes that have memory, ascending; {0} where the kernel lists none.
[[nodiscard]] std::vector<int> memory_nodes(const std::string& folder = node_folder);

/// Nodes that have CPUs, likewise.
[[nodiscard]] std::vector<int> cpu_nodes(const std::string& folder = node_folder);

/// Those of `allowed` that belong to `node`; an error that names the nodes there are when it has none of them.
[[nodiscard]] Result<std::vector<int>> cpus_of_node(int node, std::span<const int> allowed,
                                                    const std::string& folder = node_folder);

/// Pages of `memory` that are touched from now on come from `node` alone. `memory` begins at a page. An error when
/// there is no such node or the system does not let us.
[[nodiscard]] Status bind_to_node(std::span<std::byte> memory, int node);

/// Returns how many of the pages of `memory` lie on each node, of those that are there; of many pages some, evenly
/// spread. Nothing where the system does not say.
[[nodiscard]] std::map<int, std::uint64_t> pages_on_nodes(std::span<const std::byte> memory);

}  // namespace ullage
