// SPDX-License-Identifier: Apache-2.0
// Room for what HDF5 writes about the data. Where it runs out, the library fails on one rank and leaves the others
// waiting: so it is looked for beforehand, and a file that is of no use is closed without any.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "storage/array_file.hpp"

namespace ullage {

inline constexpr std::uint64_t always_bytes = std::uint64_t{64} << 10;
inline constexpr std::uint64_t bytes_per_array = 4096;

/// The index of the oldest format has 24 to 32 bytes a chunk, in nodes of which half may be empty.
inline constexpr std::uint64_t bytes_per_chunk = 96;

/// At least what the library writes about these arrays.
[[nodiscard]] inline std::uint64_t hdf5_metadata_bytes(std::span<const ArraySpec> arrays, std::uint64_t chunk_bytes) {
  std::uint64_t bytes = always_bytes;
  for (const ArraySpec& array : arrays) {
    const std::uint64_t rows_per_chunk = std::max<std::uint64_t>(1, chunk_bytes / array.row_bytes());
    bytes += bytes_per_array + (chunk_bytes > 0 ? array.rows() / rows_per_chunk * bytes_per_chunk : 0);
  }
  return bytes;
}

/// ENOSPC where the file system that the file at `path` is in, or will be, has less room than that.
[[nodiscard]] inline Status check_hdf5_room(const std::string& operation, const std::string& path,
                                            std::uint64_t bytes) {
  struct statvfs space{};
  const std::string folder = std::filesystem::path(path).parent_path();
  if (statvfs(folder.c_str(), &space) != 0 || space.f_bavail * space.f_frsize >= bytes) return {};
  Error error = errno_error(ENOSPC, operation, path);
  error.text = "no space is left for what HDF5 writes about the data";
  return fail(std::move(error));
}

inline void put_in_place(int descriptor, int memory) {
  const int flags = fcntl(descriptor, F_GETFD);
  (void)dup3(memory, descriptor, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
}

/// What this process writes to the file from here on goes to memory, through whatever descriptors it has open.
inline void discard_writes(const std::string& path) {
  struct stat file{};
  const Descriptor memory(memfd_create("ullage-discarded", MFD_CLOEXEC));
  if (!memory || stat(path.c_str(), &file) != 0) return;
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", unknown)) {
    const std::string name = entry.path().filename();
    int descriptor = -1;
    struct stat own{};
    if (std::from_chars(name.data(), name.data() + name.size(), descriptor).ec != std::errc{}) continue;
    if (fstat(descriptor, &own) == 0 && own.st_dev == file.st_dev && own.st_ino == file.st_ino)
      put_in_place(descriptor, memory.get());
  }
}

}  // namespace ullage
