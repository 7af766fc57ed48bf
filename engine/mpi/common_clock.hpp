// SPDX-License-Identifier: Apache-2.0
// The clock that all ranks of a launch are on: rank 0's, measured again and again because clocks drift.
#pragma once

#include <cstdint>
#include <optional>

#include "mpi/clock_sync.hpp"

namespace ullage::mpi {

class CommonClock final {
 public:
  /// When a measurement is too old to do without another one.
  struct Ages {
    std::int64_t drift_unknown_ns = 1'000'000'000;
    std::int64_t drift_known_ns = 5'000'000'000;
    std::int64_t costs = 100;  // and at least so many times what the last one took, so that measuring takes 1 % at most
  };
  /// All ranks read one clock.
  CommonClock() = default;
  /// Collective: the first measurement. The world outlives it. One reduction where all ranks read one clock, and
  /// nothing after that.
  explicit CommonClock(const World& world) : CommonClock(world, local_clock(), Ages()) {}
  CommonClock(const World& world, LocalClock clock, const Ages& ages);

  /// The last measurement.
  [[nodiscard]] const ClockSync& sync() const noexcept { return sync_; }
  [[nodiscard]] bool several_clocks() const noexcept { return sync_.several_clocks; }

  /// Collective, outside any timer, before a phase.
  void before_phase();
  /// Collective, likewise, after it.
  struct Around {
    ClockLine line;
    bool both_sides = false;  // measured after the phase too, which was long enough to need it
  };
  [[nodiscard]] Around after_phase();

 private:
  [[nodiscard]] bool due() const;
  void measure();
  /// The line from the last measurement to a new one.
  ClockLine measure_again();
  [[nodiscard]] OffsetEstimate mine() const { return {sync_.offset_ns, sync_.residual_ns, sync_.measured_ns}; }

  const World* world_ = nullptr;
  LocalClock clock_;
  Ages ages_;
  ClockSync sync_;
  std::int64_t measured_ns_ = 0;  // when measuring ended
  std::int64_t took_ns_ = 0;
  bool drift_known_ = false;
  double drift_ = 0;  // bound for stretches with one measurement
};

}  // namespace ullage::mpi
