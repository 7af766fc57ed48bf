// SPDX-License-Identifier: Apache-2.0
// What control groups, version 1 or 2, leave this process.
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <system_error>

#include "base/procfs.hpp"
#include "base/std.hpp"

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
[[nodiscard]] inline std::vector<Mount> parse_mounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const std::string_view line : lines_of(mountinfo)) {
    const auto words =
        words_of(line);  // id parent major:minor root mount_point options [tags...] - type source super_options
    const auto dash = std::ranges::find(words, std::string_view("-"));
    if (dash - words.begin() < 6 || words.end() - dash < 3) continue;
    Mount mount{std::string(words[2]), unescaped(words[3]), unescaped(words[4]),
                unescaped(dash[1]),    unescaped(dash[2]),  {}};
    if (words.end() - dash > 3)
      for (const std::string_view option : split_at(dash[3], ',')) mount.super_options.emplace_back(option);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

inline bool is_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

/// The mount that shows at an absolute path without symbolic links: the longest prefix, the last one mounted among
/// equals.
[[nodiscard]] inline std::optional<Mount> mount_of(std::span<const Mount> mounts, std::string_view path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts)
    if (is_below(path, mount.mount_point) && (best == nullptr || mount.mount_point.size() >= best->mount_point.size()))
      best = &mount;
  return best == nullptr ? std::nullopt : std::optional(*best);
}

/// Says where the counters of the block devices under a path are ("/sys/dev/block/254:1/stat"), all members of a btrfs;
/// or why there are none.
struct BlockCounters {
  std::vector<std::string> stat_files;
  std::string reason;
};

inline constexpr const char* block_root = "/sys/dev/block/";

inline std::optional<std::string> stat_file(const std::string& device) {
  std::string path = block_root + device + "/stat";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path;
}

/// "254:1" of a block device's special file.
inline std::optional<std::string> device_number(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) return std::nullopt;
  return std::to_string(major(status.st_rdev)) + ":" + std::to_string(minor(status.st_rdev));
}

/// All members of the btrfs that has `device` as one; empty where sysfs does not say.
inline std::vector<std::string> btrfs_members(const std::string& device) {
  std::error_code error;
  for (const auto& volume : std::filesystem::directory_iterator("/sys/fs/btrfs", error)) {
    std::vector<std::string> members;
    for (const auto& member : std::filesystem::directory_iterator(volume.path() / "devices", error))
      if (const auto number = read_word(member.path() / "dev")) members.push_back(*number);
    if (std::ranges::find(members, device) != members.end()) return members;
  }
  return {};
}

[[nodiscard]] inline BlockCounters block_counters(const Mount& mount) {
  std::vector<std::string> devices{mount.device};
  if (mount.device.starts_with("0:")) {
    const auto device = device_number(mount.source);
    if (!device) return {{}, mount.file_system + " on " + mount.source + " has no visible block device"};
    devices = mount.file_system == "btrfs" ? btrfs_members(*device) : std::vector{*device};
    if (devices.empty()) return {{}, "members of the btrfs on " + mount.source + " are not known"};
  }
  BlockCounters counters;
  for (const std::string& device : devices) {
    const auto file = stat_file(device);
    if (!file) return {{}, "block device " + device + " has no counters in /sys"};
    counters.stat_files.push_back(*file);
  }
  return counters;
}

/// CPUs' worth of time in "200000 100000" (cpu.max) or in quota and period; nothing: no limit.
[[nodiscard]] inline std::optional<double> parse_cpu_max(std::string_view text) {
  const auto words = words_of(text);
  const auto quota = number_at(words, 0);  // "max" and -1 are no numbers: no limit
  const auto period = number_at(words, 1);
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

inline bool in_list(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

/// The group's path inside its hierarchy: version 1 by the controller's name, else version 2's, whose line names none.
struct Membership {
  std::string path;
  bool unified = false;
};

inline std::optional<Membership> membership_of(std::string_view membership, std::string_view controller) {
  std::optional<Membership> found;
  for (const std::string_view line : lines_of(membership)) {  // "4:cpu,cpuacct:/a/b" or "0::/a/b"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (!path.starts_with('/')) continue;
    if (in_list(controllers, controller)) return Membership{path, false};
    if (controllers.empty()) found = Membership{path, true};
  }
  return found;
}

inline bool serves(const Mount& mount, const Membership& membership, std::string_view controller) {
  if (membership.unified) return mount.file_system == "cgroup2";
  return mount.file_system == "cgroup" &&
         std::ranges::find(mount.super_options, controller) != mount.super_options.end();
}

/// Directories of this process's group for a controller, its own first, up to the root of what is mounted. Empty: not
/// mounted here. `membership` is /proc/self/cgroup.
[[nodiscard]] inline std::vector<std::string> cgroup_directories(std::string_view membership,
                                                                 std::span<const Mount> mounts,
                                                                 std::string_view controller) {
  const auto group = membership_of(membership, controller);
  if (!group) return {};
  const auto mount =
      std::ranges::find_if(mounts, [&](const Mount& candidate) { return serves(candidate, *group, controller); });
  if (mount == mounts.end()) return {};
  std::string path = group->path;
  if (mount->root != "/" && path.starts_with(mount->root)) path.erase(0, mount->root.size());
  std::vector<std::string> directories;
  while (path.size() > 1) {
    directories.push_back(mount->mount_point + path);
    path.erase(path.rfind('/'));
  }
  directories.push_back(mount->mount_point);
  return directories;
}

inline std::vector<std::string> own_directories(std::string_view controller) {
  const auto membership = read_text("/proc/self/cgroup");
  const auto mounts = read_text("/proc/self/mountinfo");
  if (!membership || !mounts) return {};
  return cgroup_directories(*membership, parse_mounts(*mounts), controller);
}

/// Version 2's one file, or version 1's two.
inline std::optional<double> quota_in(const std::string& directory) {
  if (const auto text = read_text(directory + "/cpu.max")) return parse_cpu_max(*text);
  const auto quota = read_word(directory + "/cpu.cfs_quota_us");
  const auto period = read_word(directory + "/cpu.cfs_period_us");
  return quota && period ? parse_cpu_max(*quota + " " + *period) : std::nullopt;
}

/// The tightest CPU-time quota above this process, in CPUs; nothing: none, or it cannot be seen.
[[nodiscard]] inline std::optional<double> cgroup_cpu_quota() {
  std::optional<double> tightest;
  for (const std::string& directory : own_directories("cpu"))
    if (const auto quota = quota_in(directory); quota && (!tightest || *quota < *tightest)) tightest = quota;
  return tightest;
}

/// CPUs of this process's cpuset; nothing where there is none.
[[nodiscard]] inline std::optional<std::vector<int>> cgroup_cpus() {
  for (const std::string& directory : own_directories("cpuset"))
    for (const char* file : {"/cpuset.cpus.effective", "/cpuset.effective_cpus"})
      if (const auto text = read_text(directory + file))
        if (auto cpus = parse_cpu_list(*text); !cpus.empty()) return cpus;
  return std::nullopt;
}

}  // namespace ullage
