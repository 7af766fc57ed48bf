// SPDX-License-Identifier: Apache-2.0
// Whether a library's results are right. By plain sums, which use nothing of the library.
#pragma once

#include <cmath>

#include "base/result.hpp"
#include "base/std.hpp"
#include "linear/blas.hpp"
#include "linear/matrix.hpp"

namespace ullage {

inline constexpr std::uint64_t lines_checked = 2;

/// A sum of products, and what it would be were all of them positive.
struct Sum {
  double value = 0;
  double size = 0;
  void add(double a, double b) {
    value += a * b;
    size += std::abs(a * b);
  }
};

/// Returns what two ways of adding `n` products of `T` may differ by.
template <class T>
double tolerance(int n, double size) {
  return (n + 2) * static_cast<double>(std::numeric_limits<T>::epsilon()) * size;
}

/// True also when `found` is no number.
inline bool differs(double found, double right, double allowed) { return !(std::abs(found - right) <= allowed); }

inline Status wrong(const std::string& what, double found, double right) {
  return fail(verification_error("matrix product", "", what, std::to_string(right), std::to_string(found)));
}

template <class T>
Status check_element(const Block<T>& a, const Block<T>& b, const Block<T>& c, int row, int column) {
  Sum sum;
  for (int k = 0; k < a.columns; ++k) sum.add(a.at(row, k), b.at(k, column));
  const double found = c.at(row, column);
  if (!differs(found, sum.value, tolerance<T>(a.columns, sum.size))) return {};
  return wrong("element (" + std::to_string(row) + ", " + std::to_string(column) + ")", found, sum.value);
}

/// Element i of A v, and what it would be were all products positive.
template <class T>
std::vector<Sum> times(const Block<T>& a, std::span<const Sum> v) {
  std::vector<Sum> result(static_cast<std::size_t>(a.rows));
  for (int column = 0; column < a.columns; ++column) {
    const Sum& factor = v[static_cast<std::size_t>(column)];
    for (int row = 0; row < a.rows; ++row) {
      Sum& sum = result[static_cast<std::size_t>(row)];
      sum.value += a.at(row, column) * factor.value;
      sum.size += std::abs(a.at(row, column)) * factor.size;
    }
  }
  return result;
}

template <class T>
Status check_all(const Block<T>& a, const Block<T>& b, const Block<T>& c, std::uint64_t seed) {
  std::vector<Sum> signs;
  signs.reserve(static_cast<std::size_t>(c.columns));
  for (int i = 0; i < c.columns; ++i)
    signs.push_back({uniform_element(seed, static_cast<std::uint64_t>(i)) < 0 ? -1.0 : 1.0, 1});
  const auto right = times(a, times(b, signs));
  const auto found = times(c, signs);
  for (std::size_t row = 0; row < right.size(); ++row)
    if (differs(found[row].value, right[row].value, tolerance<T>(3 * a.columns, right[row].size)))
      return wrong("signed sum of row " + std::to_string(row), found[row].value, right[row].value);
  return {};
}

template <class T>
Status check(const Block<T>& a, const Block<T>& b, const Block<T>& c, std::uint64_t seed) {
  const auto n = static_cast<std::uint64_t>(c.rows);
  for (std::uint64_t line = 0; line < lines_checked; ++line) {
    const auto chosen = static_cast<int>(mix64(seed + line) % n);
    for (int i = 0; i < c.rows; ++i) {
      if (Status row = check_element(a, b, c, chosen, i); !row) return row;
      if (Status column = check_element(a, b, c, i, chosen); !column) return column;
    }
  }
  return check_all(a, b, c, seed);
}

[[nodiscard]] inline Status check_product(const Block<float>& a, const Block<float>& b, const Block<float>& c,
                                          std::uint64_t seed) {
  return check(a, b, c, seed);
}

/// Checks whether C = A B, square matrices: two rows and two columns by plain dot products, and all of C through a
/// vector v of +1 and -1, as C v = A (B v) (Freivalds, 1977). Every sum may differ by what rounding can do to it, n eps
/// |a||b|; so a wrong element shows in its row or column by that, and anywhere by sqrt(n) times as much. `seed` chooses
/// rows, columns and signs.
[[nodiscard]] inline Status check_product(const Block<double>& a, const Block<double>& b, const Block<double>& c,
                                          std::uint64_t seed) {
  return check(a, b, c, seed);
}

/// At and above it a solution is wrong (HPL's rule).
constexpr double most_residual = 16;

/// Not a number when one of them is none.
inline double largest(std::span<const double> values) {
  double most = 0;
  for (const double value : values)
    most = std::isnan(value) ? value : std::isnan(most) ? most : std::max(most, std::abs(value));
  return most;
}

/// Returns the same where A x and the sums of |A|'s rows were added up elsewhere, `ax` and `row_sums`.
[[nodiscard]] inline double scaled_residual(std::uint64_t seed, std::span<const double> x, std::span<const double> ax,
                                            std::span<const double> row_sums) {
  constexpr double eps = 0x1p-53;
  const std::uint64_t n = x.size();
  double b_norm = 0;
  std::vector<double> rest(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const double b = uniform_element(seed, n * n + i);
    rest[i] = ax[i] - b;
    b_norm = std::max(b_norm, std::abs(b));
  }
  return largest(rest) / (eps * (largest(row_sums) * largest(x) + b_norm) * static_cast<double>(n));
}

/// HPL's scaled residual of a solution x of A x = b, where A is n x n of uniform_element(seed, i + j n), made again
/// here column by column, and b_i of uniform_element(seed, n n + i):
/// ||A x - b||_oo / (eps (||A||_oo ||x||_oo + ||b||_oo) n), eps = 2^-53. Not finite when x is not.
[[nodiscard]] inline double scaled_residual(std::uint64_t seed, std::span<const double> x) {
  const std::uint64_t n = x.size();
  std::vector<double> ax(n);
  std::vector<double> row_sums(n);
  for (std::uint64_t j = 0; j < n; ++j)
    for (std::uint64_t i = 0; i < n; ++i) {
      const double element = uniform_element(seed, i + j * n);
      ax[i] += element * x[j];
      row_sums[i] += std::abs(element);
    }
  return scaled_residual(seed, x, ax, row_sums);
}

}  // namespace ullage
