// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/count.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "storage/dax_device.hpp"

namespace ullage {

inline constexpr std::array<const char*, 12> of_one_node{"ext2",     "ext3", "ext4",  "xfs",   "btrfs", "zfs",
                                                         "bcachefs", "f2fs", "tmpfs", "ramfs", "vfat",  "exfat"};

struct TargetSpace {
  std::uint64_t free_bytes = 0;   // to this user
  std::uint64_t free_inodes = 0;  // max when the file system has no such count
  std::uint64_t block_bytes = 0;
  std::string file_system;   // ext4, xfs, tmpfs, nfs, lustre ... ; "0x1234" when unknown
  bool memory = false;       // tmpfs, ramfs
  std::uint64_t device = 0;  // of this kernel; the same for all mounts of a file system

  /// Returns whether each node has a file system of its own there, as far as its kind says.
  [[nodiscard]] bool of_this_node() const { return std::ranges::find(of_one_node, file_system) != of_one_node.end(); }
};

/// The name the kernel itself uses, found by the id of the mount; magics do not tell ext2 from ext4 or one FUSE from
/// another.
inline std::string mounted_type(const std::string& path) {
#ifdef STATX_MNT_ID
  struct statx status{};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_MNT_ID, &status) != 0 || (status.stx_mask & STATX_MNT_ID) == 0) return {};
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::uint64_t id = 0;
    if (!(words >> id) || id != status.stx_mnt_id) continue;
    const std::size_t separator = line.find(" - ");
    if (separator == std::string::npos) return {};
    return line.substr(separator + 3, line.find(' ', separator + 3) - separator - 3);
  }
#else
  (void)path;
#endif
  return {};
}

inline constexpr std::array<std::pair<std::uint64_t, const char*>, 24> known_magics{{
    {0xef53, "ext4"},      {0x58465342, "xfs"},      {0x9123683e, "btrfs"}, {0x2fc12fc1, "zfs"},
    {0x01021994, "tmpfs"}, {0x858458f6, "ramfs"},    {0x6969, "nfs"},       {0x0bd00bd0, "lustre"},
    {0x47504653, "gpfs"},  {0x19830326, "beegfs"},   {0x65735546, "fuse"},  {0x794c7630, "overlay"},
    {0x00c36400, "ceph"},  {0x20030528, "orangefs"}, {0xf2f52010, "f2fs"},  {0xff534d42, "cifs"},
    {0xfe534d42, "smb2"},  {0x01021997, "9p"},       {0x4d44, "vfat"},      {0x2011bab0, "exfat"},
    {0x01161970, "gfs2"},  {0x7461636f, "ocfs2"},    {0x61756673, "aufs"},  {0xaad7aaea, "panfs"},
}};

/// Name of a file system by its statfs(2) magic; "0x..." when unknown.
[[nodiscard]] inline std::string file_system_name(std::uint64_t magic) {
  const auto known = std::ranges::find(known_magics, magic, [](const auto& entry) { return entry.first; });
  if (known != known_magics.end()) return known->second;
  std::array<char, 17> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), magic, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

/// Looks at the file system that holds `path`; environment error where there is none.
[[nodiscard]] inline Result<TargetSpace> target_space(const std::string& path) {
  struct statfs kind{};
  struct statvfs room{};
  struct stat status{};
  if (statfs(path.c_str(), &kind) != 0 || statvfs(path.c_str(), &room) != 0 || stat(path.c_str(), &status) != 0) {
    const int error = errno;
    return fail(environment_error(path, error == ENOENT ? "does not exist" : std::generic_category().message(error)));
  }
  if (is_dax_device(status))
    return fail(environment_error(path,
                                  "is a devdax device, which has no files: name a folder on a file system (ndctl "
                                  "create-namespace --mode fsdax), or backend devdax, which needs an empty device"));
  TargetSpace space;
  space.free_bytes = (Count(room.f_bavail) * room.f_frsize).value();
  space.free_inodes =
      room.f_files == 0 ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(room.f_favail);
  space.block_bytes = room.f_bsize;
  space.device = status.st_dev;
  // The magic is 32 bits wide, f_type is signed on some machines.
  const std::string by_magic = file_system_name(static_cast<std::uint32_t>(kind.f_type));
  const std::string mounted = mounted_type(path);
  space.file_system = mounted.empty() ? by_magic : mounted;
  space.memory = by_magic == "tmpfs" || by_magic == "ramfs";
  return space;
}

}  // namespace ullage
