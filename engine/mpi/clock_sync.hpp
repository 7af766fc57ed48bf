// SPDX-License-Identifier: Apache-2.0
// Offsets between the ranks' CLOCK_MONOTONICs: zero where boot id and time namespace agree with rank 0's, else from the
// shortest of many round trips (Cristian). Ranks of rank 0's clock cost nothing, so 64 ranks on a node start at once.
#pragma once

#include <functional>

#include "base/std.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi {

struct ClockSync {
  std::int64_t offset_ns = 0;    // add to this rank's now_ns() to get rank 0's
  std::int64_t residual_ns = 0;  // half the shortest round trip: the offset is at most this wrong
  std::int64_t measured_ns = 0;  // when it was so, by this rank's clock
  bool reads_roots = true;       // this rank and rank 0 read one clock: the offset is 0 for ever
  // These are the same on every rank:
  bool several_clocks = false;
  std::int64_t largest_offset_ns = 0;  // of the rank whose offset is farthest from 0
  int largest_offset_rank = 0;
  std::int64_t largest_residual_ns = 0;
};

/// Collective. One reduction where all ranks share a clock; else rank 0 serves one rank after the other, about 30 round
/// trips each, fewer where there are so many that this would take more than a second.
[[nodiscard]] ClockSync calibrate_clocks(const World& world);

/// A clock and a number that is the same on ranks that read the same one; not negative.
struct LocalClock {
  std::int64_t identity = 0;
  std::function<std::int64_t()> read_ns;
};
/// This rank's CLOCK_MONOTONIC, which belongs to a boot of a kernel and to a time namespace.
[[nodiscard]] LocalClock local_clock();
[[nodiscard]] ClockSync calibrate_clocks(const World& world, const LocalClock& clock);

/// A question and its answer: sent and received by one clock, answered by another.
struct RoundTrip {
  std::int64_t sent_ns = 0;
  std::int64_t answered_ns = 0;
  std::int64_t received_ns = 0;
};
struct OffsetEstimate {
  std::int64_t offset_ns = 0;    // add to the asker's clock to get the answerer's
  std::int64_t residual_ns = 0;  // the offset is at most this wrong, however the delays were shared out
  std::int64_t measured_ns = 0;  // the middle of that round trip, by the asker's clock
};
/// Estimates from the shortest of at least one round trip. Source: Cristian, Probabilistic clock synchronization, 1989.
[[nodiscard]] OffsetEstimate estimate_offset(std::span<const RoundTrip> trips);

// What one or two measurements of an offset say about a stretch of time: offsets drift, by a microsecond a second where
// nothing keeps the clocks together. Pure.

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

// The clock that all ranks of a launch are on: rank 0's, measured again and again because clocks drift.

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
