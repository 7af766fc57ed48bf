// SPDX-License-Identifier: Apache-2.0
// What control groups, version 1 or 2, leave this process.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/mounts.hpp"

namespace ullage {

/// CPUs' worth of time in "200000 100000" (cpu.max) or in quota and period; nothing: no limit.
[[nodiscard]] std::optional<double> parse_cpu_max(std::string_view text);

/// Directories of this process's group for a controller, its own first, up to the root of what is mounted. Empty: not
/// mounted here. `membership` is /proc/self/cgroup.
[[nodiscard]] std::vector<std::string> cgroup_directories(std::string_view membership, std::span<const Mount> mounts,
                                                          std::string_view controller);

/// The tightest CPU-time quota above this process, in CPUs; nothing: none, or it cannot be seen.
[[nodiscard]] std::optional<double> cgroup_cpu_quota();
/// CPUs of this process's cpuset; nothing where there is none.
[[nodiscard]] std::optional<std::vector<int>> cgroup_cpus();

}  // namespace ullage
