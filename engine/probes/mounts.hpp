// SPDX-License-Identifier: Apache-2.0
// Which mount, file system and block devices are under a path.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ullage {

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

}  // namespace ullage
