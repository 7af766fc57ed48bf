// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "storage/array_file.hpp"
#include "storage/hdf5_library.hpp"

namespace ullage {

/// The dimensions of a chunk: as many whole rows as `chunk_bytes` holds. Where it holds none, a chunk is part of a row,
/// cut along its slowest dimensions, and has one element at least.
[[nodiscard]] std::vector<HdfSize> hdf5_chunk(const ArraySpec& spec, std::uint64_t chunk_bytes);

}  // namespace ullage
