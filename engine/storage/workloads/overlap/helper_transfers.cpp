// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/overlap/helper_transfers.hpp"

#include "base/clock.hpp"

namespace ullage {

UncountedMeter::UncountedMeter() : meter_(std::make_unique<Meter>()) {
  meter_->use_histogram(false);
  meter_->start(now_ns());
}

Meter& UncountedMeter::from_now() noexcept {
  meter_->resume(now_ns());
  return *meter_;
}

HelperTransfers::HelperTransfers(std::span<const std::unique_ptr<File>> files)
    : files_(files), helpers_(files.size(), files.size(), [this](std::uint64_t transfer, UncountedMeter& meter) {
        const auto i = static_cast<std::size_t>(transfer);
        return files_[i]->transfer(direction_, extents_.subspan(i, 1), meter.from_now());
      }) {}

void HelperTransfers::start(Direction direction, std::span<const Extent> extents) {
  direction_ = direction;
  extents_ = extents;
  for (std::size_t i = 0; i < extents.size(); ++i) helpers_.submit(i);
}

Status HelperTransfers::wait() {
  Status first;
  for (std::size_t i = 0; i < extents_.size(); ++i)
    if (const auto outcome = helpers_.wait(i, [] {}); outcome && !*outcome && first) first = *outcome;
  extents_ = {};
  return first;
}

}  // namespace ullage
