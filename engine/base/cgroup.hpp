// SPDX-License-Identifier: Apache-2.0
// What control groups, version 1 or 2, leave this process.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ullage {

// Which mount, file system and block devices are under a path.

struct Mount {
  std::string device;  // "254:1"; its major number is 0 where no block device is behind it directly
  std::string root;    // of the mount inside its file system
  std::string mount_point;
  std::string file_system;
  std::string source;
  std::vector<std::string> super_options;
};

/// /proc/PID/mountinfo (proc(5)), escapes resolved. Lines that are not what they should be are left out.
[[nodiscard]] std::vector<Mount> parse_mounts(std::string_view mountinfo);

/// The mount that shows at an absolute path without symbolic links: the longest prefix, the last one mounted among
/// equals.
[[nodiscard]] std::optional<Mount> mount_of(std::span<const Mount> mounts, std::string_view path);

/// Says where the counters of the block devices under a path are ("/sys/dev/block/254:1/stat"), all members of a btrfs;
/// or why there are none.
struct BlockCounters {
  std::vector<std::string> stat_files;
  std::string reason;
};
[[nodiscard]] BlockCounters block_counters(const Mount& mount);

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
