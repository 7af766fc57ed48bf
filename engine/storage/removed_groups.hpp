// SPDX-License-Identifier: Apache-2.0
// Remembers in which block groups of an ext4 file system files were removed lately, also those of earlier runs.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

namespace ullage {

using BlockGroup = std::uint32_t;

/// As mkfs.ext4 makes them where nobody asks for others; with other numbers the memory is of no use, and does no harm.
inline constexpr ino_t inodes_a_group = 8192;
inline constexpr BlockGroup groups_together = 16;  // share their inode tables (flex_bg)

inline BlockGroup block_group_of(ino_t inode) { return static_cast<BlockGroup>((inode - 1) / inodes_a_group); }

/// Adds the groups of what is in an open directory and below it: of at most `most` names in each directory, which ext4
/// gives in the order of their hashes.
void find_block_groups(int directory, std::set<BlockGroup>& groups, std::size_t most = 16384);

/// Kept in a file; where that may not be written, what this launch removed is known to it all the same. A file that is
/// cut short says nothing.
class RemovedGroups final {
 public:
  /// Returns the memory of the file system of an open folder, in `$XDG_CACHE_HOME/ullage`, otherwise `~/.cache/ullage`.
  [[nodiscard]] static RemovedGroups beside(int folder);
  /// An empty path: kept nowhere. `groups` of the file system, at least 1.
  RemovedGroups(std::size_t groups, std::filesystem::path file);

  /// Files of these groups are removed now, or will be.
  void enter(const std::set<BlockGroup>& groups);

  /// Returns how many groups the files below a directory fill before they come to one where files were removed lately,
  /// at most `enough`. `inner`: the inode of the first directory that is made in it; those of other ranks follow. ext4
  /// takes the group of the directory, then ten more by a hash of both numbers that doubles its steps, then the
  /// following ones. With flex_bg, directories begin sixteen groups, and their files take these and the following ones
  /// (fs/ext4/ialloc.c, find_group_other, find_group_orlov).
  [[nodiscard]] std::size_t fresh_from(ino_t directory, ino_t inner, std::size_t enough) const;

 private:
  [[nodiscard]] bool are_fresh(std::size_t first, std::size_t count) const;
  void merge();
  void write() const;

  std::vector<std::uint32_t> removed_s_;  // since 1970, by group; 0: never
  std::filesystem::path file_;
};

}  // namespace ullage
