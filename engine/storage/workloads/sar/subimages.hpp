// SPDX-License-Identifier: Apache-2.0
// The rows of a pair's sub-images, as they lie in the later image and one behind the other in their group. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/backend.hpp"
#include "storage/workloads/sar/pattern.hpp"

namespace ullage {

/// Makes `runs` those that read the sub-images of the pair from a file in which the later image begins at
/// `offset_bytes`. `group` has the bytes of a group.
void runs_of(const SarShape& shape, const ImageAt& earlier, std::uint64_t offset_bytes, std::span<std::byte> group,
             std::vector<Extent>& runs);

}  // namespace ullage
