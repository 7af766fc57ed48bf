// SPDX-License-Identifier: Apache-2.0
#include "base/meter.hpp"

namespace ullage {

void Meter::forget() noexcept {
  bytes_ = 0;
  operations_.store(0, std::memory_order_relaxed);
  syncs_ = 0;
  group_ = 1;
  unstamped_ = 0;
  histogram_.clear();
  series_.clear();
  for (Histogram& part : parts_) part.clear();
}

void Meter::renew(bool obeys_stop, std::size_t parts) {
  obey_stop(obeys_stop);
  use_parts(parts);
  histogram_on_ = true;
  only_counts_ = false;
  deadline_ns_ = no_deadline;
  forget();
}

bool Meter::completed_many(std::uint64_t operations, std::uint64_t bytes) noexcept {
  const std::int64_t now = now_ns();
  if (operations == 0) return now < deadline_ns_ && !stop_now_->load(std::memory_order_relaxed);
  if (histogram_on_) histogram_.add((now - last_ns_) / static_cast<std::int64_t>(operations), operations);
  series_.add(now, bytes, operations);
  last_ns_ = now;
  bytes_ += bytes;
  operations_.store(operations_.load(std::memory_order_relaxed) + operations, std::memory_order_relaxed);
  return goes_on();
}

}  // namespace ullage
