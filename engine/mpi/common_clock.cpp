// SPDX-License-Identifier: Apache-2.0
#include "mpi/common_clock.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ullage::mpi {
namespace {

/// Two clocks of quartz, each off by 50 ppm: what is assumed until it has been measured.
constexpr double assumed_drift = 100e-6;

}  // namespace

CommonClock::CommonClock(const World& world, LocalClock clock, const Ages& ages)
    : world_(&world), clock_(std::move(clock)), ages_(ages), drift_(assumed_drift) {
  measure();
}

void CommonClock::measure() {
  const std::int64_t begun_ns = clock_.read_ns();
  sync_ = calibrate_clocks(*world_, clock_);
  measured_ns_ = clock_.read_ns();
  took_ns_ = measured_ns_ - begun_ns;
}

/// Rank 0 decides for all.
bool CommonClock::due() const {
  if (!several_clocks()) return false;
  const std::int64_t age_ns = clock_.read_ns() - measured_ns_;
  const std::int64_t most_ns =
      std::max(drift_known_ ? ages_.drift_known_ns : ages_.drift_unknown_ns, ages_.costs * took_ns_);
  return world_->all().broadcast(age_ns > most_ns ? 1 : 0, 0) != 0;
}

void CommonClock::before_phase() {
  if (due()) (void)measure_again();
}

CommonClock::Around CommonClock::after_phase() {
  if (due()) return {measure_again(), true};
  return {sync_.reads_roots ? ClockLine() : ClockLine(mine(), drift_), false};
}

ClockLine CommonClock::measure_again() {
  const OffsetEstimate before = mine();
  measure();
  drift_known_ = true;
  if (sync_.reads_roots) return {};
  const ClockLine line(before, mine());
  const auto span_ns = static_cast<double>(std::max<std::int64_t>(sync_.measured_ns - before.measured_ns, 1));
  const double found = std::abs(line.drift());
  const double uncertain = static_cast<double>(before.residual_ns + sync_.residual_ns) / span_ns;
  if (!line.has_jumped()) drift_ = std::min(found + uncertain, std::max(found, assumed_drift));
  return line;
}

}  // namespace ullage::mpi
