// SPDX-License-Identifier: Apache-2.0
#include "base/zipf.hpp"

#include <algorithm>
#include <cmath>

#include "base/permutation.hpp"

namespace ullage {
namespace {

constexpr double small = 1e-8;

/// (e^x - 1) / x and ln(1 + x) / x, which are 1 where x is 0.
double relative_growth(double x) { return std::abs(x) > small ? std::expm1(x) / x : 1 + x / 2; }
double relative_log(double x) { return std::abs(x) > small ? std::log1p(x) / x : 1 - x / 2; }

/// 53 bits of a key as a number in (0, 1].
double fraction(std::uint64_t key) { return (static_cast<double>(key >> 11) + 1) * 0x1p-53; }

}  // namespace

Zipf::Zipf(std::uint64_t items, double theta) noexcept
    : items_(items),
      theta_(theta),
      upper_(integral(static_cast<double>(items) + 0.5)),
      lower_(integral(1.5) - 1),
      always_(2 - inverse(integral(2.5) - density(2))) {}

double Zipf::density(double x) const noexcept { return std::exp(-theta_ * std::log(x)); }

double Zipf::integral(double x) const noexcept {
  const double log = std::log(x);
  return relative_growth((1 - theta_) * log) * log;
}

double Zipf::inverse(double y) const noexcept {
  const double t = std::max(-1.0, y * (1 - theta_));  // rounding can go below -1, where there is no logarithm
  return std::exp(relative_log(t) * y);
}

std::uint64_t Zipf::operator()(std::uint64_t key) const noexcept {
  const auto last = static_cast<double>(items_);
  while (true) {
    key = mix64(key);
    const double y = upper_ + fraction(key) * (lower_ - upper_);
    const double x = inverse(y);
    const double item = std::clamp(std::floor(x + 0.5), 1.0, last);
    if (item - x <= always_ || y >= integral(item + 0.5) - density(item))
      return std::min(static_cast<std::uint64_t>(item), items_) - 1;
  }
}

}  // namespace ullage
