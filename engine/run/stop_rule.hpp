// SPDX-License-Identifier: Apache-2.0
// When has a case been repeated often enough? Decided between repetitions, never inside the measuring loop; by the
// interval of a median, too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/registry.hpp"

namespace ullage {

// The interval of a median by interpolated order statistics. The front's rows have the same formula
// (src/ullage/analysis/statistics/intervals.py, which says where it is from): median_interval_test.cpp and
// tests/analysis/statistics/test_intervals.py hold the same table, tests/e2e/test_stop_rule.py a run's records.

struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Half the log of high over low: half the width over the median, which rates and their times have alike.
  [[nodiscard]] double relative_width() const;
};

/// Samples are above 0. `correlation` is that of each sample with the one before, over all cases. Null where so few
/// samples have no interval of that level (6 have one of 95 %), or where one is not above 0.
[[nodiscard]] std::optional<MedianInterval> median_interval(std::vector<std::int64_t> samples, double level,
                                                            double correlation);

/// Elapsed times of the counted repetitions so far, by phase, in order.
using Samples = std::map<std::string, std::vector<std::int64_t>>;

struct StopDecision {
  bool stop = false;
  std::string reason;                    // converged, count, time; empty while going on
  std::optional<double> relative_width;  // of the worst phase's median interval
};

class StopRule {
 public:
  StopRule() = default;
  StopRule(const StopRule&) = delete;
  StopRule& operator=(const StopRule&) = delete;
  virtual ~StopRule() = default;
  [[nodiscard]] virtual StopDecision judge(const Samples& samples) const = 0;
};

struct StopRuleEntry {
  Description description;
  std::function<std::unique_ptr<StopRule>(const Values&)> make;
};

/// Repetitions of the phase that has fewest; 0 without phases.
[[nodiscard]] std::size_t repetitions(const Samples& samples);

/// Half the width of the median's interval over the median, of the worst phase; null where a phase has too few samples
/// for an interval of that level.
[[nodiscard]] std::optional<double> relative_median_width(const Samples& samples, double level, double correlation = 0);

}  // namespace ullage
