// SPDX-License-Identifier: Apache-2.0
// What the kernel knows of a file, whichever API wrote it: what of it is allocated, cached, and how direct I/O must be
// aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "storage/backend.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

/// Size, and whether every byte is written: no hole (SEEK_HOLE), no allocated but unwritten extent (FIEMAP where it is
/// supported).
[[nodiscard]] Result<FileExtents> inspect_file(const RunFolder& folder, const std::string& name);

/// Does the same for a part of it; size_bytes is what of the part is there.
[[nodiscard]] Result<FileExtents> inspect_part(const RunFolder& folder, const std::string& name,
                                               std::uint64_t offset_bytes, std::uint64_t length_bytes);

/// Writes the file back (fdatasync) and drops its clean pages from this node's page cache (POSIX_FADV_DONTNEED).
[[nodiscard]] Status drop_cached_file(const RunFolder& folder, const std::string& name);

/// Alignment of offsets, lengths and buffers for O_DIRECT in this folder: as statx(2) states it, else the file system's
/// block size when that is at most 4096, else 4096. Environment error where the file system refuses O_DIRECT.
[[nodiscard]] Result<std::size_t> direct_alignment_bytes(const RunFolder& folder);

/// Returns whether files of this folder are on persistent memory past the page cache (DAX), as statx(2) says of one.
[[nodiscard]] bool is_dax(const RunFolder& folder);

/// Allocates `size_bytes` from the start of the file. A failure gives back what was allocated before it.
[[nodiscard]] Status allocate_file(int fd, std::uint64_t size_bytes, const std::string& path);

}  // namespace ullage
