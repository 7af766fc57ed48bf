// SPDX-License-Identifier: Apache-2.0
#include "run/stop_rule.hpp"

#include <algorithm>
#include <cmath>

namespace ullage {
namespace {

/// Largest k such that [x_(k), x_(n+1-k)] covers the median with at least `level`; 1 when none does.
std::size_t symmetric_rank(std::size_t n, double level) {
  const double log_half_n = -static_cast<double>(n) * std::log(2.0);
  double below = 0;  // P(B < k) for B ~ Binomial(n, 1/2)
  double log_choose = 0;
  std::size_t rank = 1;
  for (std::size_t k = 1; 2 * k <= n; ++k) {
    below += std::exp(log_choose + log_half_n);
    if (1 - 2 * below < level) break;
    rank = k;
    log_choose += std::log(static_cast<double>(n - k + 1)) - std::log(static_cast<double>(k));
  }
  return rank;
}

double median_of_sorted(const std::vector<std::int64_t>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return static_cast<double>(sorted[middle]);
  return (static_cast<double>(sorted[middle - 1]) + static_cast<double>(sorted[middle])) / 2;
}

}  // namespace

std::size_t repetitions(const Samples& samples) {
  std::size_t fewest = 0;
  bool first = true;
  for (const auto& [phase, values] : samples) {
    fewest = first ? values.size() : std::min(fewest, values.size());
    first = false;
  }
  return fewest;
}

std::optional<double> relative_median_width(std::vector<std::int64_t> samples, double level) {
  if (samples.size() < 2) return std::nullopt;
  std::ranges::sort(samples);
  const double median = median_of_sorted(samples);
  if (median <= 0) return std::nullopt;
  const std::size_t k = symmetric_rank(samples.size(), level);
  return static_cast<double>(samples[samples.size() - k] - samples[k - 1]) / 2 / median;
}

std::optional<double> relative_median_width(const Samples& samples, double level) {
  std::optional<double> worst;
  for (const auto& [phase, values] : samples) {
    const auto width = relative_median_width(values, level);
    if (!width) return std::nullopt;
    worst = std::max(worst.value_or(0), *width);
  }
  return worst;
}

}  // namespace ullage
