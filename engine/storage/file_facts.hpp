// SPDX-License-Identifier: Apache-2.0
// What the kernel knows of a file, whichever API wrote it: what of it is allocated, cached, and how direct I/O must be
// aligned.
#pragma once

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "base/result.hpp"
#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

inline constexpr std::uint32_t extents_a_call = 64;

struct FiemapRequest {
  alignas(fiemap) std::array<std::byte, sizeof(fiemap) + extents_a_call * sizeof(fiemap_extent)> bytes;
};

/// The last extent that one call to FIEMAP gives, and whether any of them is unwritten.
struct MappedPart {
  bool unwritten = false;
  bool last = true;
  std::uint64_t end_bytes = 0;
};

inline std::optional<MappedPart> mapped_part(int fd, std::uint64_t start_bytes, std::uint64_t end_bytes,
                                             std::uint32_t flags) {
  FiemapRequest request{};
  auto* header = new (request.bytes.data()) fiemap;  // its array of no length cannot be initialised
  header->fm_mapped_extents = 0;
  header->fm_reserved = 0;
  header->fm_start = start_bytes;
  header->fm_length = end_bytes - start_bytes;
  header->fm_flags = flags;
  header->fm_extent_count = extents_a_call;
  if (ioctl(fd, FS_IOC_FIEMAP, header) != 0) return std::nullopt;
  MappedPart part;
  part.last = header->fm_mapped_extents == 0;
  for (std::uint32_t i = 0; i < std::min(header->fm_mapped_extents, extents_a_call); ++i) {
    const fiemap_extent& extent = header->fm_extents[i];
    part.unwritten = part.unwritten || (extent.fe_flags & FIEMAP_EXTENT_UNWRITTEN) != 0;
    part.last = part.last || (extent.fe_flags & FIEMAP_EXTENT_LAST) != 0;
    part.end_bytes = extent.fe_logical + extent.fe_length;
  }
  return part;
}

inline bool has_unwritten_extents(int fd, std::uint64_t begin_bytes, std::uint64_t end_bytes, std::uint32_t flags) {
  for (std::uint64_t start = begin_bytes; start < end_bytes;) {
    const auto part = mapped_part(fd, start, end_bytes, flags);
    if (!part) return false;  // not supported here: SEEK_HOLE alone decides
    if (part->unwritten) return true;
    if (part->last || part->end_bytes <= start) return false;
    start = part->end_bytes;
  }
  return false;
}

inline bool has_hole(int fd, std::uint64_t begin_bytes, std::uint64_t end_bytes) {
  const off_t hole = lseek(fd, static_cast<off_t>(begin_bytes), SEEK_HOLE);
  return hole >= 0 && static_cast<std::uint64_t>(hole) < end_bytes;
}

/// Does the same for a part of it; size_bytes is what of the part is there.
[[nodiscard]] inline Result<FileExtents> inspect_part(const RunFolder& folder, const std::string& name,
                                                      std::uint64_t offset_bytes, std::uint64_t length_bytes) {
  const auto file = folder.open_file(name, O_RDONLY);
  if (!file) return fail(file.error());
  struct stat status{};
  if (fstat(file->get(), &status) != 0) return fail(errno_error(errno, "inspect", folder.path() + "/" + name));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t begin = std::min(offset_bytes, size);
  const std::uint64_t end = begin + std::min(length_bytes, size - begin);
  // Data still in the page cache over an unwritten extent is written: asked a second time after write-back.
  const bool unwritten = has_unwritten_extents(file->get(), begin, end, 0) &&
                         has_unwritten_extents(file->get(), begin, end, FIEMAP_FLAG_SYNC);
  return FileExtents{end - begin, !unwritten && (begin == end || !has_hole(file->get(), begin, end))};
}

/// Size, and whether every byte is written: no hole (SEEK_HOLE), no allocated but unwritten extent (FIEMAP where it is
/// supported).
[[nodiscard]] inline Result<FileExtents> inspect_file(const RunFolder& folder, const std::string& name) {
  return inspect_part(folder, name, 0, std::numeric_limits<std::uint64_t>::max());
}

/// Writes the file back (fdatasync) and drops its clean pages from this node's page cache (POSIX_FADV_DONTNEED).
[[nodiscard]] inline Status drop_cached_file(const RunFolder& folder, const std::string& name) {
  const auto file = folder.open_file(name, O_RDONLY);
  if (!file) return fail(file.error());
  if (fdatasync(file->get()) != 0) return fail(errno_error(errno, "sync", folder.path() + "/" + name));
  if (const int error = posix_fadvise(file->get(), 0, 0, POSIX_FADV_DONTNEED); error != 0)
    return fail(errno_error(error, "advise", folder.path() + "/" + name));
  return {};
}

inline std::optional<std::size_t> stated_alignment(int fd) {
#ifdef STATX_DIOALIGN
  struct statx status{};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) != 0 || (status.stx_mask & STATX_DIOALIGN) == 0)
    return std::nullopt;
  const std::size_t alignment = std::max(status.stx_dio_mem_align, status.stx_dio_offset_align);
  if (alignment > 0) return alignment;
#else
  (void)fd;
#endif
  return std::nullopt;
}

inline std::size_t assumed_alignment(int fd) {
  constexpr std::size_t page = 4096;
  struct statfs status{};
  if (fstatfs(fd, &status) != 0) return page;
  const auto block = static_cast<std::size_t>(status.f_bsize);
  return std::has_single_bit(block) && block >= 512 && block <= page ? block : page;
}

/// Alignment of offsets, lengths and buffers for O_DIRECT in this folder: as statx(2) states it, else the file system's
/// block size when that is at most 4096, else 4096. Environment error where the file system refuses O_DIRECT.
[[nodiscard]] inline Result<std::size_t> direct_alignment_bytes(const RunFolder& folder) {
  const auto direct = folder.open_marker(O_DIRECT);
  if (!direct && direct.error().errno_value == EINVAL)
    return fail(environment_error(folder.path(), "is on a file system that refuses direct I/O (O_DIRECT)"));
  if (!direct) return fail(direct.error());
  const auto stated = stated_alignment(direct->get());
  return stated ? *stated : assumed_alignment(direct->get());
}

/// Returns whether files of this folder are on persistent memory past the page cache (DAX), as statx(2) says of one.
[[nodiscard]] inline bool is_dax(const RunFolder& folder) {
#ifdef STATX_ATTR_DAX
  const auto marker = folder.open_marker(0);
  struct statx status{};
  return marker && statx(marker->get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) == 0 &&
         (status.stx_attributes & STATX_ATTR_DAX) != 0;
#else
  (void)folder;
  return false;
#endif
}

/// Allocates `size_bytes` from the start of the file. A failure gives back what was allocated before it.
[[nodiscard]] inline Status allocate_file(int fd, std::uint64_t size_bytes, const std::string& path) {
  if (size_bytes == 0) return {};
  int code = 0;
  do code = fallocate(fd, 0, 0, static_cast<off_t>(size_bytes));
  while (code != 0 && errno == EINTR);
  if (code == 0) return {};
  const int error = errno;
  // ext4 keeps what it could allocate before it ran out of space.
  if (ftruncate(fd, 0) != 0) return fail(errno_error(errno, "truncate", path));
  if (error == EOPNOTSUPP) return fail(unsupported("preallocate", path + ": this file system cannot preallocate"));
  return fail(errno_error(error, "preallocate", path));
}

}  // namespace ullage
