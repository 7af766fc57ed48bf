// SPDX-License-Identifier: Apache-2.0
// The counters of this kernel that see what a target's folder reads and writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Found once for a folder, then read around each phase.
class TargetCounters final {
 public:
  /// Has no counters.
  explicit TargetCounters(std::string reason) : device_reason_(std::move(reason)) {}
  /// Finds those of the file system that holds `folder`.
  [[nodiscard]] static TargetCounters of_folder(const std::string& folder);

  /// Returns what its block devices count; nothing where there are none, with the reason below.
  [[nodiscard]] std::optional<Traffic> device() const;
  /// On the wire between an NFS or Lustre client and its servers; nothing where there is no such client.
  [[nodiscard]] std::optional<Traffic> client() const;
  [[nodiscard]] const std::string& device_reason() const noexcept { return device_reason_; }
  [[nodiscard]] const std::string& client_reason() const noexcept { return client_reason_; }

 private:
  void find_client(const std::string& file_system, const std::string& source, const std::string& mount_point);
  std::vector<std::string> block_files_;
  std::vector<std::string> lustre_files_;
  std::string nfs_mount_;
  std::string device_reason_;
  std::string client_reason_;
};

/// The name of a Lustre file system in its mount source: "scratch" of "10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch/sub".
[[nodiscard]] std::string lustre_name(const std::string& source);

}  // namespace ullage
