// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ullage {

std::int64_t clock_read_cost_ns() {
  constexpr int reads = 1000;
  std::array<std::int64_t, 9> costs{};
  for (std::int64_t& cost : costs) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < reads - 1; ++i) (void)now_ns();
    cost = (now_ns() - start) / reads;
  }
  std::ranges::nth_element(costs, costs.begin() + costs.size() / 2);
  return costs[costs.size() / 2];
}

namespace {

/// Repetitions that take this share of what is wanted are enough to extrapolate from.
constexpr double share_to_trust = 0.25;
constexpr double most_growth = 16;
constexpr int most_tries = 3;

}  // namespace

std::uint64_t repetitions_that_last(double wanted_s, const std::function<std::int64_t(std::uint64_t)>& run,
                                    std::uint64_t most) {
  const double wanted_ns = wanted_s * 1e9;
  const double long_ns = share_to_trust * wanted_ns;
  std::uint64_t repetitions = 1;
  for (bool is_long = false; !is_long;) {
    double took_ns = std::numeric_limits<double>::max();
    for (int tries = 0; tries < most_tries && took_ns >= long_ns; ++tries)
      took_ns = std::min(took_ns, std::max(1.0, static_cast<double>(run(repetitions))));
    is_long = took_ns >= long_ns || repetitions >= most;
    const double growth = is_long ? wanted_ns / took_ns : std::min(wanted_ns / took_ns, most_growth);
    const double wanted = std::round(static_cast<double>(repetitions) * growth);
    repetitions = static_cast<std::uint64_t>(std::clamp(wanted, 1.0, static_cast<double>(most)));
  }
  return repetitions;
}

}  // namespace ullage
