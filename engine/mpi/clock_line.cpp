// SPDX-License-Identifier: Apache-2.0
#include "mpi/clock_line.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ullage::mpi {
namespace {

/// The kernel slews a clock by 500 ppm at most, and quartz is off by less than 100.
constexpr double fastest_drift = 1e-3;

std::int64_t times(double factor, std::int64_t ns) { return std::llround(factor * static_cast<double>(ns)); }

}  // namespace

ClockLine::ClockLine(const OffsetEstimate& measured, double drift)
    : before_(measured), last_ns_(measured.measured_ns), drift_(drift), least_residual_ns_(measured.residual_ns) {}

ClockLine::ClockLine(const OffsetEstimate& before, const OffsetEstimate& after)
    : before_(before),
      last_ns_(after.measured_ns),
      least_residual_ns_(std::max(before.residual_ns, after.residual_ns)) {
  const std::int64_t span_ns = std::max<std::int64_t>(last_ns_ - before_.measured_ns, 1);
  const std::int64_t change_ns = after.offset_ns - before_.offset_ns;
  slope_ = static_cast<double>(change_ns) / static_cast<double>(span_ns);
  drift_ = slope_;
  const std::int64_t surely_ns = std::llabs(change_ns) - before_.residual_ns - after.residual_ns;
  if (surely_ns > times(fastest_drift, span_ns)) jump_ns_ = std::llabs(change_ns);
}

std::int64_t ClockLine::to_root(std::int64_t local_ns) const noexcept {
  return local_ns + before_.offset_ns + times(slope_, local_ns - before_.measured_ns);
}

std::int64_t ClockLine::to_local(std::int64_t root_ns) const noexcept {
  const std::int64_t shifted_ns = root_ns - before_.offset_ns;
  return shifted_ns - times(slope_ / (1 + slope_), shifted_ns - before_.measured_ns);
}

std::int64_t ClockLine::residual_ns(std::int64_t local_ns) const noexcept {
  if (has_jumped()) return least_residual_ns_ + jump_ns_;
  const std::int64_t age_ns = std::min(std::llabs(local_ns - before_.measured_ns), std::llabs(local_ns - last_ns_));
  return least_residual_ns_ + times(std::abs(drift_), age_ns);
}

}  // namespace ullage::mpi
