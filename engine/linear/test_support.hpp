// SPDX-License-Identifier: Apache-2.0
// What the tests of linear/ share. Included by tests only.
#pragma once

#include <cmath>

#include "linear/blas.hpp"

namespace ullage::test {

/// Does everything as in a textbook, and as wrong as a test wants it.
class PlainBlas final : public Blas {
 public:
  bool has_factor = true;
  bool can_be_told = true;
  std::function<void(const Block<double>&)> spoil_product = [](const Block<double>&) {};
  std::function<void(const Block<double>&)> spoil_factors = [](const Block<double>&) {};
  mutable int products = 0;
  mutable int factorings = 0;

  [[nodiscard]] Map facts() const override { return {{"library", "plain"}, {"core", "none"}}; }
  [[nodiscard]] Status use_threads(int threads) override {
    if (!can_be_told) return fail(environment_error("BLAS", "cannot be told"));
    threads_ = threads;
    return {};
  }
  [[nodiscard]] int threads() const override { return threads_; }

  void multiply(double alpha, const Block<double>& a, const Block<double>& b, double beta,
                const Block<double>& c) const override {
    ++products;
    multiply_plainly(alpha, a, b, beta, c);
    spoil_product(c);
  }
  void multiply(float alpha, const Block<float>& a, const Block<float>& b, float beta,
                const Block<float>& c) const override {
    multiply_plainly(alpha, a, b, beta, c);
  }
  void solve_triangle(Triangle triangle, const Block<double>& a, const Block<double>& b) const override {
    for (int column = 0; column < b.columns; ++column)
      solve_triangle(triangle, a, std::span(&b.at(0, column), static_cast<std::size_t>(b.rows)));
  }
  void solve_triangle(Triangle triangle, const Block<double>& a, std::span<double> x) const override {
    const bool lower = triangle == Triangle::unit_lower;
    for (int step = 0; step < a.rows; ++step) {
      const int i = lower ? step : a.rows - 1 - step;
      double& value = x[static_cast<std::size_t>(i)];
      for (int k = lower ? 0 : i + 1; k < (lower ? i : a.rows); ++k)
        value -= a.at(i, k) * x[static_cast<std::size_t>(k)];
      if (!lower) value /= a.at(i, i);
    }
  }
  [[nodiscard]] bool can_factor() const override { return has_factor; }
  [[nodiscard]] int factor(const Block<double>& a, std::span<int> pivots) const override {
    ++factorings;
    for (int step = 0; step < a.columns; ++step) {
      int best = step;
      for (int row = step; row < a.rows; ++row)
        if (std::abs(a.at(row, step)) > std::abs(a.at(best, step))) best = row;
      pivots[static_cast<std::size_t>(step)] = best + 1;
      if (a.at(best, step) == 0) return step + 1;
      for (int column = 0; column < a.columns; ++column) std::swap(a.at(step, column), a.at(best, column));
      for (int row = step + 1; row < a.rows; ++row) {
        a.at(row, step) /= a.at(step, step);
        for (int column = step + 1; column < a.columns; ++column)
          a.at(row, column) -= a.at(row, step) * a.at(step, column);
      }
    }
    spoil_factors(a);
    return 0;
  }

 private:
  template <class T>
  static void multiply_plainly(T alpha, const Block<T>& a, const Block<T>& b, T beta, const Block<T>& c) {
    for (int column = 0; column < c.columns; ++column)
      for (int row = 0; row < c.rows; ++row) {
        T sum = 0;
        for (int k = 0; k < a.columns; ++k) sum += a.at(row, k) * b.at(k, column);
        c.at(row, column) = alpha * sum + (beta == 0 ? 0 : beta * c.at(row, column));
      }
  }
  int threads_ = 1;
};

}  // namespace ullage::test
