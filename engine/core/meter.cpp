// SPDX-License-Identifier: Apache-2.0
#include "core/meter.hpp"

namespace ullage {

void Meter::start(std::int64_t start_ns, std::int64_t deadline_ns) noexcept {
  last_ns_ = start_ns;
  deadline_ns_ = deadline_ns;
  bytes_ = 0;
  operations_.store(0, std::memory_order_relaxed);
  syncs_ = 0;
  histogram_.clear();
  series_.start(start_ns);
}

}  // namespace ullage
