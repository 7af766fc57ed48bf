// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <algorithm>
#include <array>

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

}  // namespace ullage
