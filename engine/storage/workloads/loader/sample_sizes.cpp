// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "base/permutation.hpp"
#include "base/rounding.hpp"

namespace ullage {
namespace {

constexpr int uniforms = 12;      // their sum has variance 1
constexpr double farthest = 6.0;  // from their mean

/// One draw of a number with mean 0 and standard deviation 1.
double nearly_normal(std::uint64_t key) noexcept {
  double sum = 0;
  for (int i = 0; i < uniforms; ++i) {
    key = mix64(key);
    sum += static_cast<double>(key >> 11U) * 0x1p-53;
  }
  return sum - farthest;
}

}  // namespace

SampleSizes::SampleSizes(const SampleSizeSpec& spec)
    : spec_(spec),
      farthest_(std::min(farthest * static_cast<double>(spec.deviation_bytes),
                         static_cast<double>(spec.mean_bytes) * 15 / 16)),
      largest_(in_units(static_cast<double>(spec.mean_bytes) + farthest_)) {}

std::uint64_t SampleSizes::in_units(double bytes) const noexcept {
  const double units = std::floor(bytes / static_cast<double>(spec_.unit_bytes) + 0.5);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(units), 1) * spec_.unit_bytes;
}

std::uint64_t SampleSizes::bytes(std::uint64_t sample) const noexcept {
  const auto mean = static_cast<double>(spec_.mean_bytes);
  if (alike()) return in_units(mean);
  std::uint64_t key = mix64(mix64(spec_.seed) ^ sample);
  while (true) {
    const double away = static_cast<double>(spec_.deviation_bytes) * nearly_normal(key);
    if (std::abs(away) <= farthest_) return in_units(mean + away);
    key = mix64(~key);
  }
}

Count SampleSizes::most_bytes(std::uint64_t samples) const noexcept {
  const Count most = Count(samples) * largest_;
  if (alike()) return most;
  constexpr double sure = 6;  // standard deviations of the sum
  const auto count = static_cast<double>(samples);
  const double mean = static_cast<double>(spec_.mean_bytes + spec_.unit_bytes) * count;
  const double bound = mean + sure * static_cast<double>(spec_.deviation_bytes) * std::sqrt(count);
  return bound < 1e19 ? std::min(most, Count(static_cast<std::uint64_t>(bound))) : most;
}

}  // namespace ullage
