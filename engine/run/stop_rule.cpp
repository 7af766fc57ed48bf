// SPDX-License-Identifier: Apache-2.0
#include "run/stop_rule.hpp"

#include <algorithm>

#include "run/median_interval.hpp"

namespace ullage {

std::size_t repetitions(const Samples& samples) {
  std::size_t fewest = 0;
  bool first = true;
  for (const auto& [phase, values] : samples) {
    fewest = first ? values.size() : std::min(fewest, values.size());
    first = false;
  }
  return fewest;
}

std::optional<double> relative_median_width(const Samples& samples, double level, double correlation) {
  std::optional<double> worst;
  for (const auto& [phase, values] : samples) {
    const auto interval = median_interval(values, level, correlation);
    if (!interval) return std::nullopt;
    worst = std::max(worst.value_or(0), interval->relative_width());
  }
  return worst;
}

}  // namespace ullage
