// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "base/permutation.hpp"
#include "base/std.hpp"

namespace ullage {

inline constexpr double small_step = 1e-8;

/// (e^x - 1) / x and ln(1 + x) / x, which are 1 where x is 0.
inline double relative_growth(double x) { return std::abs(x) > small_step ? std::expm1(x) / x : 1 + x / 2; }
inline double relative_log(double x) { return std::abs(x) > small_step ? std::log1p(x) / x : 1 - x / 2; }

/// 53 bits of a key as a number in (0, 1].
inline double fraction(std::uint64_t key) { return (static_cast<double>(key >> 11) + 1) * 0x1p-53; }

/// Draws from the Zipf distribution of `items` items, item k (from 0) with a probability in proportion to
/// (k + 1)^-theta, in O(1) memory and, whatever the number of items, about one trial a draw: rejection-inversion.
/// Source: Hörmann and Derflinger, ACM TOMACS 6(3), 1996, "Rejection-inversion to generate variates from monotone
/// discrete distributions". Pure: the draw is a function of the key. theta 0 is uniform.
class Zipf final {
 public:
  Zipf(std::uint64_t items, double theta) noexcept
      : items_(items),
        theta_(theta),
        upper_(integral(static_cast<double>(items) + 0.5)),
        lower_(integral(1.5) - 1),
        always_(2 - inverse(integral(2.5) - density(2))) {}  // items >= 1, theta >= 0

  [[nodiscard]] std::uint64_t operator()(std::uint64_t key) const noexcept {
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

  [[nodiscard]] std::uint64_t items() const noexcept { return items_; }

 private:
  [[nodiscard]] double density(double x) const noexcept { return std::exp(-theta_ * std::log(x)); }  // the paper's h

  [[nodiscard]] double integral(double x) const noexcept {  // its H
    const double log = std::log(x);
    return relative_growth((1 - theta_) * log) * log;
  }

  [[nodiscard]] double inverse(double y) const noexcept {  // of the integral
    const double t = std::max(-1.0, y * (1 - theta_));     // rounding can go below -1, where there is no logarithm
    return std::exp(relative_log(t) * y);
  }

  std::uint64_t items_;
  double theta_;
  double upper_;  // the integral's ends
  double lower_;
  double always_;  // a point that is no further below its item is taken without a look at the density
};

}  // namespace ullage
