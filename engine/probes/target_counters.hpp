// SPDX-License-Identifier: Apache-2.0
// The counters of this kernel that see what a target's folder reads and writes.
#pragma once

#include <filesystem>
#include <system_error>

#include "base/cgroup.hpp"
#include "base/procfs.hpp"
#include "base/std.hpp"

namespace ullage {

// Counters of bytes that crossed to a device or a server. Pure functions over the kernel's texts.

struct Traffic {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  Traffic& operator+=(const Traffic& other) {
    read_bytes += other.read_bytes;
    written_bytes += other.written_bytes;
    return *this;
  }
};

/// /sys/dev/block/M:N/stat (Documentation/block/stat.rst); its sectors are 512 bytes whatever the device's are.
[[nodiscard]] std::optional<Traffic> parse_block_stat(std::string_view stat);

/// Bytes an NFS client got from and sent to its server for one mount, from /proc/self/mountstats (its "bytes:" line).
[[nodiscard]] std::optional<Traffic> parse_nfs_traffic(std::string_view mountstats, std::string_view mount_point);

/// Bytes moved by bulk requests of one Lustre OSC, from its `stats`; no traffic yet: zeros.
[[nodiscard]] std::optional<Traffic> parse_lustre_traffic(std::string_view stats);

/// All of them, or nothing: half a sum is no measurement.
template <class Parse>
std::optional<Traffic> sum_of(const std::vector<std::string>& files, Parse parse) {
  if (files.empty()) return std::nullopt;
  Traffic sum;
  for (const std::string& file : files) {
    const auto text = read_text(file);
    const std::optional<Traffic> traffic = text ? parse(*text) : std::nullopt;
    if (!traffic) return std::nullopt;
    sum += *traffic;
  }
  return sum;
}

inline constexpr std::array<const char*, 2> lustre_roots{"/proc/fs/lustre/osc", "/sys/kernel/debug/lustre/osc"};

inline std::vector<std::string> lustre_stat_files(const std::string& name) {
  std::vector<std::string> files;
  for (const char* root : lustre_roots) {
    std::error_code error;
    for (const auto& client : std::filesystem::directory_iterator(root, error))
      if (client.path().filename().string().starts_with(name + "-OST")) files.push_back(client.path() / "stats");
    if (!files.empty()) break;
  }
  return files;
}

/// The name of a Lustre file system in its mount source: "scratch" of "10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch/sub".
[[nodiscard]] std::string lustre_name(const std::string& source);

/// Found once for a folder, then read around each phase.
class TargetCounters final {
 public:
  /// Has no counters.
  explicit TargetCounters(std::string reason) : device_reason_(std::move(reason)) {}

  /// Finds those of the file system that holds `folder`.
  [[nodiscard]] static TargetCounters of_folder(const std::string& folder) {
    std::error_code error;
    const auto path = std::filesystem::canonical(folder, error);
    const auto text = read_text("/proc/self/mountinfo");
    if (error || !text) return TargetCounters("the mount under " + folder + " cannot be found");
    const auto mounts = parse_mounts(*text);
    const auto mount = mount_of(mounts, path.native());
    if (!mount) return TargetCounters("the mount under " + folder + " is not listed");
    BlockCounters block = block_counters(*mount);
    TargetCounters counters(std::move(block.reason));
    counters.block_files_ = std::move(block.stat_files);
    counters.find_client(mount->file_system, mount->source, mount->mount_point);
    return counters;
  }

  /// Returns what its block devices count; nothing where there are none, with the reason below.
  [[nodiscard]] std::optional<Traffic> device() const { return sum_of(block_files_, parse_block_stat); }

  /// On the wire between an NFS or Lustre client and its servers; nothing where there is no such client.
  [[nodiscard]] std::optional<Traffic> client() const {
    if (!lustre_files_.empty()) return sum_of(lustre_files_, parse_lustre_traffic);
    if (nfs_mount_.empty()) return std::nullopt;
    const auto stats = read_text("/proc/self/mountstats");
    return stats ? parse_nfs_traffic(*stats, nfs_mount_) : std::nullopt;
  }

  [[nodiscard]] const std::string& device_reason() const noexcept { return device_reason_; }
  [[nodiscard]] const std::string& client_reason() const noexcept { return client_reason_; }

 private:
  void find_client(const std::string& file_system, const std::string& source, const std::string& mount_point) {
    if (file_system.starts_with("nfs")) nfs_mount_ = mount_point;
    if (file_system != "lustre") return;
    const std::string name = lustre_name(source);
    if (!name.empty()) lustre_files_ = lustre_stat_files(name);
    if (lustre_files_.empty())
      client_reason_ = "the client counters of Lustre " + name + " cannot be read by this user";
  }

  std::vector<std::string> block_files_;
  std::vector<std::string> lustre_files_;
  std::string nfs_mount_;
  std::string device_reason_;
  std::string client_reason_;
};

}  // namespace ullage
