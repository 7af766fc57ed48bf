// SPDX-License-Identifier: Apache-2.0
// What one or two measurements of an offset say about a stretch of time: offsets drift, by a microsecond a second where
// nothing keeps the clocks together. Pure.
#pragma once

#include <cstdint>

#include "mpi/clock_sync.hpp"

namespace ullage::mpi {

/// Converts from this rank's clock to rank 0's and back.
class ClockLine final {
 public:
  /// This rank reads rank 0's clock.
  ClockLine() = default;
  /// One measurement, which is all that is known: `drift` bounds how fast the offset has changed since (1e-6: by a
  /// microsecond a second).
  ClockLine(const OffsetEstimate& measured, double drift);
  /// The stretch between two measurements, by a straight line.
  ClockLine(const OffsetEstimate& before, const OffsetEstimate& after);

  [[nodiscard]] std::int64_t to_root(std::int64_t local_ns) const noexcept;
  [[nodiscard]] std::int64_t to_local(std::int64_t root_ns) const noexcept;
  /// Returns how wrong to_root() may be there: what the measurements leave, and drift x age. The age counts from the
  /// nearest measurement: between two, the rate may have been anything from none to twice the mean.
  [[nodiscard]] std::int64_t residual_ns(std::int64_t local_ns) const noexcept;
  /// Change of the offset by time; of a single measurement the bound.
  [[nodiscard]] double drift() const noexcept { return drift_; }
  /// Between two measurements the offset changed by more than drifting clocks do: one of them was set, or stood still.
  /// Nobody knows when, so that the whole change is in every residual.
  [[nodiscard]] bool has_jumped() const noexcept { return jump_ns_ > 0; }

 private:
  OffsetEstimate before_;
  std::int64_t last_ns_ = 0;  // of the later measurement, by this rank's clock
  double drift_ = 0;
  double slope_ = 0;
  std::int64_t least_residual_ns_ = 0;
  std::int64_t jump_ns_ = 0;
};

}  // namespace ullage::mpi
