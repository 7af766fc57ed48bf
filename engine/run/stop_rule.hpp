// SPDX-License-Identifier: Apache-2.0
// When has a case been repeated often enough? Decided between repetitions, never inside the measuring loop; by the
// interval of a median, too.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "base/pinned.hpp"
#include "base/registry.hpp"
#include "base/std.hpp"

namespace ullage {

// The interval of a median by interpolated order statistics. The front's rows have the same formula
// (src/ullage/analysis/statistics/intervals.py, which says where it is from): median_interval_test.cpp and
// tests/analysis/statistics/test_intervals.py hold the same table, tests/e2e/test_stop_rule.py a run's records.

struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Half the log of high over low: half the width over the median, which rates and their times have alike.
  [[nodiscard]] double relative_width() const { return std::log(high / low) / 2; }
};

// Uses this share of the error that the level leaves. A look after each repetition costs the rest.
inline constexpr double share_of_error = 0.75;

/// Returns how often [x_(rank), x_(n+1-rank)] covers the median; beyond the middle the negative of the other way round.
inline double rank_coverage(std::size_t n, std::size_t rank) {
  const double log_half_n = -static_cast<double>(n) * std::numbers::ln2;
  double below = 0;
  double log_choose = 0;
  for (std::size_t k = 0; k < rank; ++k) {
    below += std::exp(log_choose + log_half_n);
    log_choose += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
  }
  return 1 - 2 * below;
}

inline constexpr std::size_t sign_terms = 64;

/// Returns by what factor correlation makes the median's error grow: that of the signs of a normal autoregressive
/// series.
inline double stretch_of(std::size_t n, double correlation) {
  if (correlation <= 0) return 1;
  double sum = 0;
  for (std::size_t k = 1; k < std::min(n, sign_terms); ++k)
    sum += (1 - static_cast<double>(k) / static_cast<double>(n)) * 2 / std::numbers::pi *
           std::asin(std::pow(correlation, static_cast<double>(k)));
  return std::sqrt(1 + 2 * sum);
}

/// The z for which a normal variable lies between -z and z with probability `level`.
inline double two_sided_z(double level) {
  double low = 0;
  double high = 40;
  for (int step = 0; step < 200; ++step) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

inline double between(double outer, double inner, double weight) {
  const double found = std::exp((1 - weight) * std::log(outer) + weight * std::log(inner));
  return std::clamp(found, std::min(outer, inner), std::max(outer, inner));
}

inline double middle_of(const std::vector<std::int64_t>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return static_cast<double>(sorted[middle]);
  return (static_cast<double>(sorted[middle - 1]) + static_cast<double>(sorted[middle])) / 2;
}

/// Samples are above 0. `correlation` is that of each sample with the one before, over all cases. Null where so few
/// samples have no interval of that level (6 have one of 95 %), or where one is not above 0.
[[nodiscard]] inline std::optional<MedianInterval> median_interval(std::vector<std::int64_t> samples, double level,
                                                                   double correlation) {
  const std::size_t n = samples.size();
  if (n < 2) return std::nullopt;
  std::ranges::sort(samples);
  if (samples.front() <= 0) return std::nullopt;
  double wanted = 1 - (1 - level) * share_of_error;
  const double stretch = stretch_of(n, correlation);
  if (stretch > 1) wanted = std::erf(stretch * two_sided_z(wanted) / std::numbers::sqrt2);
  if (rank_coverage(n, 1) < wanted) return std::nullopt;
  std::size_t rank = 1;
  while (rank_coverage(n, rank + 1) > wanted) ++rank;
  const double outer = rank_coverage(n, rank);
  const double share = (outer - wanted) / (outer - rank_coverage(n, rank + 1));
  const auto left = static_cast<double>(n - rank);
  const auto own = static_cast<double>(rank);
  const double weight = left * share / (own + (left - own) * share);
  const auto at = [&samples](std::size_t place) { return static_cast<double>(samples[place]); };
  return MedianInterval{middle_of(samples), between(at(rank - 1), at(rank), weight),
                        between(at(n - rank), at(n - rank - 1), weight)};
}

/// Elapsed times of the counted repetitions so far, by phase, in order.
using Samples = std::map<std::string, std::vector<std::int64_t>>;

struct StopDecision {
  bool stop = false;
  std::string reason;                    // converged, count, time; empty while going on
  std::optional<double> relative_width;  // of the worst phase's median interval
};

class StopRule : public Interface {
 public:
  [[nodiscard]] virtual StopDecision judge(const Samples& samples) const = 0;
};

struct StopRuleEntry {
  Description description;
  std::function<std::unique_ptr<StopRule>(const Values&)> make;
};

/// Repetitions of the phase that has fewest; 0 without phases.
[[nodiscard]] inline std::size_t repetitions(const Samples& samples) {
  std::size_t fewest = 0;
  bool first = true;
  for (const auto& [phase, values] : samples) {
    fewest = first ? values.size() : std::min(fewest, values.size());
    first = false;
  }
  return fewest;
}

/// Half the width of the median's interval over the median, of the worst phase; null where a phase has too few samples
/// for an interval of that level.
[[nodiscard]] inline std::optional<double> relative_median_width(const Samples& samples, double level,
                                                                 double correlation = 0) {
  std::optional<double> worst;
  for (const auto& [phase, values] : samples) {
    const auto interval = median_interval(values, level, correlation);
    if (!interval) return std::nullopt;
    worst = std::max(worst.value_or(0), interval->relative_width());
  }
  return worst;
}

}  // namespace ullage
