// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ullage {

/// Draws from the Zipf distribution of `items` items, item k (from 0) with a probability in proportion to
/// (k + 1)^-theta, in O(1) memory and, whatever the number of items, about one trial a draw: rejection-inversion.
/// Source: Hörmann and Derflinger, ACM TOMACS 6(3), 1996, "Rejection-inversion to generate variates from monotone
/// discrete distributions". Pure: the draw is a function of the key. theta 0 is uniform.
class Zipf final {
 public:
  Zipf(std::uint64_t items, double theta) noexcept;  // items >= 1, theta >= 0
  [[nodiscard]] std::uint64_t operator()(std::uint64_t key) const noexcept;
  [[nodiscard]] std::uint64_t items() const noexcept { return items_; }

 private:
  [[nodiscard]] double density(double x) const noexcept;   // the paper's h
  [[nodiscard]] double integral(double x) const noexcept;  // its H
  [[nodiscard]] double inverse(double y) const noexcept;   // of the integral
  std::uint64_t items_;
  double theta_;
  double upper_;  // the integral's ends
  double lower_;
  double always_;  // a point that is no further below its item is taken without a look at the density
};

}  // namespace ullage
