// SPDX-License-Identifier: Apache-2.0
// The clock and the account of a thread that moves data beside its rank's own thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/meter.hpp"

namespace ullage {

/// Backends tick a meter, and the rank's own is of one thread. Owned by one thread.
class HelperClock final {
 public:
  HelperClock();
  [[nodiscard]] std::int64_t now_ns() { return meter_->clock_ns(); }
  /// Returns the meter for a transfer that begins at `from_ns`.
  [[nodiscard]] Meter& meter_from(std::int64_t from_ns) {
    meter_->resume(from_ns);
    return *meter_;
  }
  /// The same for one that begins now: what lies between transfers is no device's time.
  [[nodiscard]] Meter& from_now() { return meter_from(now_ns()); }

 private:
  std::unique_ptr<Meter> meter_;
};

}  // namespace ullage
