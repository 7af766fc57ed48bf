// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/hdf5_chunk.hpp"

#include <algorithm>

namespace ullage {

std::vector<HdfSize> hdf5_chunk(const ArraySpec& spec, std::uint64_t chunk_bytes) {
  std::vector<HdfSize> chunk(spec.dimensions.begin(), spec.dimensions.end());
  std::uint64_t bytes = spec.size_bytes();
  for (HdfSize& extent : chunk) {
    extent = std::max<HdfSize>(extent, 1);
    bytes = std::max<std::uint64_t>(bytes / extent, 1);
    const std::uint64_t held = chunk_bytes / bytes;
    extent = std::clamp<HdfSize>(held, 1, extent);
    if (held > 0) break;
  }
  return chunk;
}

}  // namespace ullage
