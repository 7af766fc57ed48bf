// SPDX-License-Identifier: Apache-2.0
// Log-linear latency histogram: 128 sub-buckets a power of two, so a bucket's midpoint is at most 1/256 off.
#pragma once

#include <bit>
#include <cmath>

#include "base/std.hpp"

namespace ullage {

/// Owned by one thread; merged by adding counts. Values above 2^42 ns (73 minutes) fall into the last bucket; max_ns()
/// stays exact.
class Histogram final {
 public:
  static constexpr std::size_t sub_buckets = 128;
  static constexpr int largest_bits = 42;
  static constexpr std::size_t bucket_count = static_cast<std::size_t>(largest_bits - 8 + 2) * sub_buckets;

  /// `times` operations that took `value_ns` each.
  void add(std::int64_t value_ns, std::uint64_t times = 1) noexcept {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(value_ns, 0));
    counts_[bucket_of(value)] += times;
    sum_ns_ += value * times;
    min_ns_ = std::min(min_ns_, value);
    max_ns_ = std::max(max_ns_, value);
  }

  /// `times` >= 1 operations that took `total_ns` together: each counts as their mean, and the sum stays exact.
  void add_group(std::int64_t total_ns, std::uint64_t times) noexcept {
    const auto total = static_cast<std::uint64_t>(std::max<std::int64_t>(total_ns, 0));
    const std::uint64_t mean = times == 1 ? total : total / times;
    counts_[bucket_of(mean)] += times;
    sum_ns_ += total;
    min_ns_ = std::min(min_ns_, mean);
    max_ns_ = std::max(max_ns_, mean);
  }

  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < 2 * sub_buckets) return static_cast<std::size_t>(value);
    if (static_cast<int>(std::bit_width(value)) > largest_bits) return bucket_count - 1;
    const int shift = static_cast<int>(std::bit_width(value)) - 8;
    return static_cast<std::size_t>(shift + 1) * sub_buckets + static_cast<std::size_t>((value >> shift) - sub_buckets);
  }

  [[nodiscard]] static std::uint64_t lowest_of(std::size_t bucket) noexcept {
    if (bucket < 2 * sub_buckets) return bucket;
    const std::size_t shift = bucket / sub_buckets - 1;
    return static_cast<std::uint64_t>(bucket % sub_buckets + sub_buckets) << shift;
  }

  [[nodiscard]] static std::uint64_t midpoint_of(std::size_t bucket) noexcept {
    if (bucket < 2 * sub_buckets) return bucket;
    const std::size_t shift = bucket / sub_buckets - 1;
    return lowest_of(bucket) + (std::uint64_t{1} << shift) / 2;
  }

  void clear() noexcept { *this = Histogram(); }

  void merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) counts_[i] += other.counts_[i];
    sum_ns_ += other.sum_ns_;
    min_ns_ = std::min(min_ns_, other.min_ns_);
    max_ns_ = std::max(max_ns_, other.max_ns_);
  }

  /// Value below or at which `quantile` of the operations lie (nearest rank), as the bucket's midpoint, never below min
  /// or above max; 0 when empty.
  [[nodiscard]] std::uint64_t quantile_ns(double quantile) const noexcept {
    const std::uint64_t total = operations();
    if (total == 0) return 0;
    // A hair less, so that a product like 0.07 * 100 = 7.000000000000001 does not count as the 8th.
    const double rank =
        std::clamp(quantile, 0.0, 1.0) * static_cast<double>(total) * (1 - 4 * std::numeric_limits<double>::epsilon());
    const auto wanted = static_cast<std::uint64_t>(std::ceil(rank));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
      seen += counts_[i];
      if (seen >= std::max<std::uint64_t>(wanted, 1)) return std::clamp(midpoint_of(i), min_ns_, max_ns_);
    }
    return max_ns_;
  }

  [[nodiscard]] std::uint64_t operations() const noexcept {
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts_) total += count;
    return total;
  }

  [[nodiscard]] std::uint64_t sum_ns() const noexcept { return sum_ns_; }
  [[nodiscard]] std::uint64_t min_ns() const noexcept { return operations() == 0 ? 0 : min_ns_; }
  [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_ns_; }
  [[nodiscard]] std::span<const std::uint64_t, bucket_count> counts() const noexcept { return counts_; }

  /// Replaces the contents by summed counts and sums and the extremes.
  void assign(std::span<const std::uint64_t, bucket_count> counts, std::uint64_t sum_ns, std::uint64_t min_ns,
              std::uint64_t max_ns) noexcept {
    std::ranges::copy(counts, counts_.begin());
    sum_ns_ = sum_ns;
    min_ns_ = min_ns;
    max_ns_ = max_ns;
  }

 private:
  std::uint64_t sum_ns_ = 0;
  std::uint64_t min_ns_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ns_ = 0;
  // Last, so that what every operation changes lies together: a system call leaves little of the nearest cache.
  std::array<std::uint64_t, bucket_count> counts_{};
};

}  // namespace ullage
