// SPDX-License-Identifier: Apache-2.0
// Remembers in which block groups of an ext4 file system files were removed lately, also those of earlier runs.
#pragma once

#include <fcntl.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/std.hpp"
#include "storage/directory_reader.hpp"

namespace ullage {

using BlockGroup = std::uint32_t;

/// As mkfs.ext4 makes them where nobody asks for others; with other numbers the memory is of no use, and does no harm.
inline constexpr ino_t inodes_a_group = 8192;
inline constexpr BlockGroup groups_together = 16;  // share their inode tables (flex_bg)

inline BlockGroup block_group_of(ino_t inode) { return static_cast<BlockGroup>((inode - 1) / inodes_a_group); }

/// Adds the groups of what is in an open directory and below it: of at most `most` names in each directory, which ext4
/// gives in the order of their hashes.
inline void find_block_groups(int directory, std::set<BlockGroup>& groups, std::size_t most = 16384) {
  DirectoryReader reader(std::size_t{1} << 20U);
  std::vector<std::string> inner;
  for (std::size_t seen = 0; seen < most && reader.read(directory).value_or(false); seen += reader.entries().size())
    for (const NamedEntry& entry : reader.entries()) {
      groups.insert(block_group_of(entry.inode));
      if (entry.kind == EntryKind::directory) inner.emplace_back(entry.name.view());
    }
  for (const std::string& name : inner)
    if (const auto opened = open_beneath(directory, name, O_RDONLY | O_DIRECTORY))
      find_block_groups(opened->get(), groups, most);
}

/// `$XDG_CACHE_HOME`, otherwise `~/.cache`; empty where neither is known.
inline std::filesystem::path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return cache;
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::filesystem::path(home) / ".cache" : std::filesystem::path();
}

/// Kept in a file; where that may not be written, what this launch removed is known to it all the same. A file that is
/// cut short says nothing.
class RemovedGroups final {
 public:
  /// Returns the memory of the file system of an open folder, in `ullage` of the cache folder.
  [[nodiscard]] static RemovedGroups beside(int folder) {
    struct statfs about{};
    if (fstatfs(folder, &about) != 0) return {1, {}};
    std::uint64_t id = 0;
    std::memcpy(&id, &about.f_fsid, std::min(sizeof id, sizeof about.f_fsid));
    const auto cache = cache_folder();
    return {std::max<std::size_t>(about.f_files / inodes_a_group, 1),
            cache.empty() ? cache : cache / "ullage" / ("block-groups-" + std::to_string(id) + ".bin")};
  }
  /// An empty path: kept nowhere. `groups` of the file system, at least 1.
  RemovedGroups(std::size_t groups, std::filesystem::path file) : removed_s_(groups), file_(std::move(file)) {
    merge();
  }

  /// Files of these groups are removed now, or will be.
  void enter(const std::set<BlockGroup>& groups) {
    if (groups.empty()) return;
    merge();
    for (const BlockGroup group : groups)
      if (group < removed_s_.size()) removed_s_[group] = now_s();
    write();
  }

  /// Returns how many groups the files below a directory fill before they come to one where files were removed lately,
  /// at most `enough`. `inner`: the inode of the first directory that is made in it; those of other ranks follow. ext4
  /// takes the group of the directory, then ten more by a hash of both numbers that doubles its steps, then the
  /// following ones. With flex_bg, directories begin sixteen groups, and their files take these and the following ones
  /// (fs/ext4/ialloc.c, find_group_other, find_group_orlov).
  [[nodiscard]] std::size_t fresh_from(ino_t directory, ino_t inner, std::size_t enough) const {
    const std::size_t group = block_group_of(directory);
    if (!are_fresh(group, group % groups_together == 0 ? groups_together : 1)) return 0;
    std::size_t fresh = 1;
    for (std::size_t step = 1; fresh < enough && step <= 512; step *= 2, ++fresh)
      if (!are_fresh(group + inner + 2 * step - 1, inner_directories)) return fresh;
    for (std::size_t next = group + 1; fresh < enough; ++next, ++fresh)
      if (!are_fresh(next, 1)) return fresh;
    return fresh;
  }

 private:
  /// The kernel skips an inode for 60 s after its removal, and for 300 s more while its block of the inode table waits
  /// to be written (fs/ext4/ialloc.c, recently_deleted).
  static constexpr std::uint32_t skipped_for_s = 370;
  static constexpr std::size_t inner_directories = 4;  // whose places are looked at

  [[nodiscard]] static std::uint32_t now_s() { return static_cast<std::uint32_t>(std::time(nullptr)); }

  [[nodiscard]] bool are_fresh(std::size_t first, std::size_t count) const {
    const std::uint32_t now = now_s();
    for (std::size_t i = first; i < first + count; ++i)
      if (now - std::min(now, removed_s_[i % removed_s_.size()]) < skipped_for_s) return false;
    return true;
  }

  void merge() {
    std::ifstream in(file_, std::ios::binary);
    std::vector<std::uint32_t> kept(removed_s_.size());
    const auto bytes = static_cast<std::streamsize>(kept.size() * sizeof kept[0]);
    if (file_.empty() || !in.read(reinterpret_cast<char*>(kept.data()), bytes)) return;
    const std::uint32_t now = now_s();
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (kept[i] <= now) removed_s_[i] = std::max(removed_s_[i], kept[i]);
  }

  void write() const {
    if (file_.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(file_.parent_path(), error);
    const std::string made = file_.string() + "." + std::to_string(getpid());
    std::ofstream out(made, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(removed_s_.data()),
              static_cast<std::streamsize>(removed_s_.size() * sizeof removed_s_[0]));
    out.close();
    if (out) std::filesystem::rename(made, file_, error);
    if (!out || error) std::filesystem::remove(made, error);
  }

  std::vector<std::uint32_t> removed_s_;  // since 1970, by group; 0: never
  std::filesystem::path file_;
};

}  // namespace ullage
