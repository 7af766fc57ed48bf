// SPDX-License-Identifier: Apache-2.0
// The counters of this kernel that see what a target's folder reads and writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/traffic.hpp"

namespace ullage {

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
