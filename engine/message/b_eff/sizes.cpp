// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/sizes.hpp"

#include <cmath>

namespace ullage {
namespace {

constexpr std::size_t last_doubled = 12;
constexpr std::size_t steps_above = b_eff_size_count - 1 - last_doubled;

double times_middle(std::uint64_t lmax_bytes, std::size_t steps) {
  const double all = static_cast<double>(lmax_bytes) / static_cast<double>(b_eff_middle_bytes);
  return std::pow(all, static_cast<double>(steps) / static_cast<double>(steps_above));
}

}  // namespace

std::array<std::uint64_t, b_eff_size_count> b_eff_sizes(std::uint64_t lmax_bytes) {
  std::array<std::uint64_t, b_eff_size_count> sizes{};
  for (std::size_t i = 0; i <= last_doubled; ++i) sizes[i] = std::uint64_t{1} << i;
  for (std::size_t k = 1; k <= steps_above; ++k)
    sizes[last_doubled + k] =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(b_eff_middle_bytes) * times_middle(lmax_bytes, k)));
  return sizes;
}

double b_eff_growth(std::uint64_t lmax_bytes, std::size_t index) {
  return index <= last_doubled ? 2 : times_middle(lmax_bytes, 1);
}

}  // namespace ullage
