// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra as somebody else's library does it. All matrices are column-major.
#pragma once

#include <functional>

#include "base/parameters.hpp"
#include "base/pinned.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

/// A matrix within memory of somebody else's: element (i, j) is data[i + j * stride].
template <class T>
struct Block {
  T* data = nullptr;
  int rows = 0;
  int columns = 0;
  int stride = 0;  // elements from a column to the next, at least `rows`

  [[nodiscard]] T& at(int row, int column) const {
    return data[static_cast<std::size_t>(row) + static_cast<std::size_t>(column) * static_cast<std::size_t>(stride)];
  }
  [[nodiscard]] Block part(int row, int column, int part_rows, int part_columns) const {
    return {part_rows > 0 && part_columns > 0 ? &at(row, column) : data, part_rows, part_columns, stride};
  }
};

enum class Triangle { unit_lower, upper };

/// Called from the rank's main thread, which nobody pins: threads that a library makes inherit the affinity of the one
/// that calls it.
class Blas : public Interface {
 public:
  /// Returns what was loaded: `library` (path), and where it says so `core` (whose kernels it has chosen) and `config`.
  [[nodiscard]] virtual Map facts() const = 0;
  /// An error when the library cannot be told and might use another number.
  [[nodiscard]] virtual Status use_threads(int threads) = 0;
  /// Returns what the library says.
  [[nodiscard]] virtual int threads() const = 0;

  /// C := alpha A B + beta C
  virtual void multiply(double alpha, const Block<double>& a, const Block<double>& b, double beta,
                        const Block<double>& c) const = 0;
  virtual void multiply(float alpha, const Block<float>& a, const Block<float>& b, float beta,
                        const Block<float>& c) const = 0;
  /// B := A^-1 B, where A is a triangle of the square `a`; of the other half nothing is looked at.
  virtual void solve_triangle(Triangle triangle, const Block<double>& a, const Block<double>& b) const = 0;
  virtual void solve_triangle(Triangle triangle, const Block<double>& a, std::span<double> x) const = 0;
  /// Returns whether it has LAPACK's dgetrf.
  [[nodiscard]] virtual bool can_factor() const = 0;
  /// P A = L U in place, with `pivots` as LAPACK counts them: row i was exchanged for row pivots[i] - 1, in that order.
  /// 0, or the first column (from 1) whose pivot is zero.
  [[nodiscard]] virtual int factor(const Block<double>& a, std::span<int> pivots) const = 0;
};

/// A library, or why there is none. The same object each time.
using BlasSource = std::function<Result<Blas*>()>;

}  // namespace ullage
