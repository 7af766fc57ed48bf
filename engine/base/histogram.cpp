// SPDX-License-Identifier: Apache-2.0
#include "base/histogram.hpp"

#include <cmath>

namespace ullage {

std::uint64_t Histogram::lowest_of(std::size_t bucket) noexcept {
  if (bucket < 2 * sub_buckets) return bucket;
  const std::size_t shift = bucket / sub_buckets - 1;
  return static_cast<std::uint64_t>(bucket % sub_buckets + sub_buckets) << shift;
}

std::uint64_t Histogram::midpoint_of(std::size_t bucket) noexcept {
  if (bucket < 2 * sub_buckets) return bucket;
  const std::size_t shift = bucket / sub_buckets - 1;
  return lowest_of(bucket) + (std::uint64_t{1} << shift) / 2;
}

void Histogram::clear() noexcept { *this = Histogram(); }

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < bucket_count; ++i) counts_[i] += other.counts_[i];
  sum_ns_ += other.sum_ns_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

std::uint64_t Histogram::operations() const noexcept {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts_) total += count;
  return total;
}

std::uint64_t Histogram::quantile_ns(double quantile) const noexcept {
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

void Histogram::assign(std::span<const std::uint64_t, bucket_count> counts, std::uint64_t sum_ns, std::uint64_t min_ns,
                       std::uint64_t max_ns) noexcept {
  std::ranges::copy(counts, counts_.begin());
  sum_ns_ = sum_ns;
  min_ns_ = min_ns;
  max_ns_ = max_ns;
}

}  // namespace ullage
