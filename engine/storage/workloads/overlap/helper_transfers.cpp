// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/overlap/helper_transfers.hpp"

namespace ullage {

HelperTransfers::HelperTransfers(std::span<const std::unique_ptr<File>> files)
    : files_(files), helpers_(files.size(), [this](std::uint64_t transfer, HelperClock& clock) {
        const auto i = static_cast<std::size_t>(transfer);
        return files_[i]->transfer(direction_, extents_.subspan(i, 1), clock.from_now());
      }) {}

void HelperTransfers::start(Direction direction, std::span<const Extent> extents) {
  direction_ = direction;
  extents_ = extents;
  helpers_.submit(0, extents.size());
}

Status HelperTransfers::wait() {
  Status first;
  for (std::size_t i = 0; i < extents_.size(); ++i)
    if (const auto outcome = helpers_.wait(i, [] {}); outcome && !*outcome && first) first = *outcome;
  extents_ = {};
  return first;
}

}  // namespace ullage
