// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/subimages.hpp"

namespace ullage {

void runs_of(const SarShape& shape, const ImageAt& earlier, std::uint64_t offset_bytes, std::span<std::byte> group,
             std::vector<Extent>& runs) {
  const auto length = static_cast<std::size_t>(shape.run_bytes());
  runs.clear();
  for (std::uint64_t number = 0; number < shape.subimages; ++number) {
    const Corner corner = corner_of(shape, earlier, number);
    for (std::uint64_t row = 0; row < shape.side; ++row)
      runs.push_back({offset_bytes + run_offset_bytes(shape, corner, row), length, &group[runs.size() * length]});
  }
}

}  // namespace ullage
