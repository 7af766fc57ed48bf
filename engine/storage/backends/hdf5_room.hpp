// SPDX-License-Identifier: Apache-2.0
// Room for what HDF5 writes about the data. Where it runs out, the library fails on one rank and leaves the others
// waiting: so it is looked for beforehand, and a file that is of no use is closed without any.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"
#include "storage/array_file.hpp"

namespace ullage {

/// At least what the library writes about these arrays.
[[nodiscard]] std::uint64_t hdf5_metadata_bytes(std::span<const ArraySpec> arrays, std::uint64_t chunk_bytes);

/// ENOSPC where the file system that the file at `path` is in, or will be, has less room than that.
[[nodiscard]] Status check_hdf5_room(const std::string& operation, const std::string& path, std::uint64_t bytes);

/// What this process writes to the file from here on goes to memory, through whatever descriptors it has open.
void discard_writes(const std::string& path);

}  // namespace ullage
