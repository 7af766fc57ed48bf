// SPDX-License-Identifier: Apache-2.0
// How large the samples of a training set are. Pure, O(1) memory, the same on every CPU.
#pragma once

#include <cstdint>

#include "base/count.hpp"

namespace ullage {

struct SampleSizeSpec {
  std::uint64_t mean_bytes = 2828486;
  std::uint64_t deviation_bytes = 71311;  // standard deviation; 0: all are alike
  std::uint64_t unit_bytes = 8;           // every size is a multiple of it
  std::uint64_t seed = 1;
  [[nodiscard]] bool operator==(const SampleSizeSpec&) const = default;
};

/// Normally distributed around the mean, as the sum of 12 uniform numbers is (no library's logarithm is in it). What
/// lies further than 15/16 of the mean away is drawn anew: the mean stays, a deviation near the mean gets smaller.
class SampleSizes final {
 public:
  explicit SampleSizes(const SampleSizeSpec& spec);

  [[nodiscard]] std::uint64_t bytes(std::uint64_t sample) const noexcept;
  /// No sample has more.
  [[nodiscard]] std::uint64_t largest() const noexcept { return largest_; }
  /// Returns what so many samples take, exactly where all are alike; else a bound that one set in a billion exceeds.
  [[nodiscard]] Count most_bytes(std::uint64_t samples) const noexcept;
  [[nodiscard]] bool alike() const noexcept { return spec_.deviation_bytes == 0; }

 private:
  [[nodiscard]] std::uint64_t in_units(double bytes) const noexcept;

  SampleSizeSpec spec_;
  double farthest_;
  std::uint64_t largest_;
};

}  // namespace ullage
