// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace ullage {

struct TargetSpace {
  std::uint64_t free_bytes = 0;   // to this user
  std::uint64_t free_inodes = 0;  // max when the file system has no such count
  std::uint64_t block_bytes = 0;
  std::string file_system;   // ext4, xfs, tmpfs, nfs, lustre ... ; "0x1234" when unknown
  bool memory = false;       // tmpfs, ramfs
  std::uint64_t device = 0;  // of this kernel; the same for all mounts of a file system

  /// Returns whether each node has a file system of its own there, as far as its kind says.
  [[nodiscard]] bool of_this_node() const;
};

/// Looks at the file system that holds `path`; environment error where there is none.
[[nodiscard]] Result<TargetSpace> target_space(const std::string& path);

/// Name of a file system by its statfs(2) magic; "0x..." when unknown.
[[nodiscard]] std::string file_system_name(std::uint64_t magic);

}  // namespace ullage
