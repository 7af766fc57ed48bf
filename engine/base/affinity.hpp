// SPDX-License-Identifier: Apache-2.0
// On which CPUs threads may run, and in which order they take them: each core once before any is taken twice.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ullage {

/// Names the core of a CPU: the same text for those that share one (the kernel's thread_siblings_list); empty
/// where the system does not say.
using CoreOf = std::function<std::string(int cpu)>;

[[nodiscard]] std::string core_of(int cpu);

/// `cpus` with the first of each core before the second of any, else in the order given. Those of no known core are
/// each a core of its own.
[[nodiscard]] std::vector<int> cores_first(std::span<const int> cpus, const CoreOf& of = core_of);

/// CPUs this thread may run on, in the kernel's order; empty where the kernel does not say.
[[nodiscard]] std::vector<int> own_cpus();
/// Returns the same as threads take them, cores first; never empty.
[[nodiscard]] std::vector<int> allowed_cpus();
/// `count` of `cpus` from number `first` on, each once before any is taken again.
[[nodiscard]] std::vector<int> choose_cpus(std::span<const int> cpus, std::size_t first, std::size_t count);
/// Those of `cpus` that are not `used`, without the ones that share a core with a used one where others are left.
[[nodiscard]] std::vector<int> spare_cpus(std::span<const int> cpus, std::span<const int> used,
                                          const CoreOf& of = core_of);
/// Keeps this thread on a CPU from now on. False: the system does not let it.
[[nodiscard]] bool pin_to(int cpu);
/// Keeps this thread on these CPUs from now on. False: the system does not let it.
[[nodiscard]] bool keep_on(std::span<const int> cpus);

}  // namespace ullage
