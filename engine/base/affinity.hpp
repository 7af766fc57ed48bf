// SPDX-License-Identifier: Apache-2.0
// In which order threads take CPUs: each core once before any is taken twice.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ullage {

/// What names the core of a CPU: the same text for those that share one (the kernel's thread_siblings_list); empty
/// where the system does not say.
using CoreOf = std::function<std::string(int cpu)>;

[[nodiscard]] std::string core_of(int cpu);

/// `cpus` with the first of each core before the second of any, else in the order given. Those of no known core are
/// each a core of its own.
[[nodiscard]] std::vector<int> cores_first(std::span<const int> cpus, const CoreOf& of = core_of);

}  // namespace ullage
