// SPDX-License-Identifier: Apache-2.0
// The interval of a median by interpolated order statistics. The front's rows have the same formula
// (src/ullage/analysis/statistics/intervals.py, which says where it is from): median_interval_test.cpp and
// tests/analysis/statistics/test_intervals.py hold the same table, tests/e2e/test_stop_rule.py a run's records.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ullage {

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

}  // namespace ullage
