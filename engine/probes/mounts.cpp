// SPDX-License-Identifier: Apache-2.0
#include "probes/mounts.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "probes/text.hpp"

namespace ullage {
namespace {

constexpr const char* block_root = "/sys/dev/block/";

std::vector<std::string> split_options(std::string_view options) {
  std::vector<std::string> out;
  while (!options.empty()) {
    const std::size_t comma = options.find(',');
    out.emplace_back(options.substr(0, comma));
    options.remove_prefix(comma == std::string_view::npos ? options.size() : comma + 1);
  }
  return out;
}

bool is_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

std::optional<std::string> stat_file(const std::string& device) {
  std::string path = block_root + device + "/stat";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path;
}

/// "254:1" of a block device's special file.
std::optional<std::string> device_number(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) return std::nullopt;
  return std::to_string(major(status.st_rdev)) + ":" + std::to_string(minor(status.st_rdev));
}

/// All members of the btrfs that has `device` as one; empty where sysfs does not say.
std::vector<std::string> btrfs_members(const std::string& device) {
  std::error_code error;
  for (const auto& volume : std::filesystem::directory_iterator("/sys/fs/btrfs", error)) {
    std::vector<std::string> members;
    for (const auto& member : std::filesystem::directory_iterator(volume.path() / "devices", error))
      if (const auto number = read_word(member.path() / "dev")) members.push_back(*number);
    if (std::ranges::find(members, device) != members.end()) return members;
  }
  return {};
}

}  // namespace

std::vector<Mount> parse_mounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const std::string_view line : lines_of(mountinfo)) {
    const auto words =
        words_of(line);  // id parent major:minor root mount_point options [tags...] - type source super_options
    const auto dash = std::ranges::find(words, std::string_view("-"));
    if (dash - words.begin() < 6 || words.end() - dash < 3) continue;
    Mount mount{std::string(words[2]), unescaped(words[3]), unescaped(words[4]),
                unescaped(dash[1]),    unescaped(dash[2]),  {}};
    if (words.end() - dash > 3) mount.super_options = split_options(dash[3]);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::optional<Mount> mount_of(std::span<const Mount> mounts, std::string_view path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts)
    if (is_below(path, mount.mount_point) && (best == nullptr || mount.mount_point.size() >= best->mount_point.size()))
      best = &mount;
  return best == nullptr ? std::nullopt : std::optional(*best);
}

BlockCounters block_counters(const Mount& mount) {
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

}  // namespace ullage
