// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/schedule.hpp"

#include <algorithm>

namespace ullage {
namespace {

constexpr double longest_spacing_s = 0.5;  // within which a request to stop is heard
constexpr double looks_an_allowance = 20;

std::uint64_t part_of(const BEffIoPattern& pattern, std::uint64_t most_bytes) {
  const auto units = static_cast<std::uint64_t>(pattern.units);
  const auto all = static_cast<std::uint64_t>(b_eff_io_units(pattern.type));
  return most_bytes / all * units + most_bytes % all * units / all;
}

}  // namespace

bool b_eff_io_goes_on(BEffIoRule rule, double elapsed_s, std::uint64_t repetitions, double scheduled_s) {
  if (rule == BEffIoRule::elapsed) return elapsed_s < scheduled_s;
  const auto done = static_cast<double>(repetitions);
  return elapsed_s * (done + 1) / done <= scheduled_s;
}

std::uint64_t b_eff_io_most_calls(const BEffIoPattern& pattern, std::uint64_t lmax_bytes, std::uint64_t ranks,
                                  std::uint64_t most_bytes) {
  if (pattern.units == 0) return 1;
  return std::max<std::uint64_t>(1, part_of(pattern, most_bytes) / (pattern.call_bytes(lmax_bytes) * ranks));
}

Count b_eff_io_needed_bytes(BEffIoType type, std::uint64_t lmax_bytes, std::uint64_t ranks, std::uint64_t most_bytes) {
  constexpr std::uint64_t rounding_bytes = 1 << 20;
  Count needed = is_segmented(type) ? Count(ranks) * rounding_bytes : 0;
  for (const BEffIoPattern& pattern : b_eff_io_patterns(type))
    needed += std::max(Count(part_of(pattern, most_bytes)), Count(pattern.call_bytes(lmax_bytes)) * ranks);
  return needed;
}

BEffIoCheckTimes::BEffIoCheckTimes(double allowance_s)
    : allowance_s_(allowance_s), spacing_s_(std::min(longest_spacing_s, allowance_s / looks_an_allowance)) {}

/// At most twice as many as before, since the first calls may be much faster than those that follow.
std::uint64_t BEffIoCheckTimes::next(std::uint64_t done, double elapsed_s) const {
  const double expected =
      elapsed_s > 0 ? static_cast<double>(done) * spacing_s_ / elapsed_s : static_cast<double>(done);
  const auto step = static_cast<std::uint64_t>(std::clamp(expected, 1.0, static_cast<double>(done)));
  return done + step;
}

}  // namespace ullage
