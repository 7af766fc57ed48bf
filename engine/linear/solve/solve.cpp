// SPDX-License-Identifier: Apache-2.0
// Workload `solve`: dense linear systems by the machine's BLAS, counted and checked as HPL does it.
#include "linear/solve/solve.hpp"

#include <cmath>

#include "linear/blas_library.hpp"

namespace ullage {
namespace {

/// Panels no wider are factored column by column.
constexpr int narrow = 8;

/// Exchanges rows as `pivots` say, counted from 1, column by column, since those are what lies together.
void exchange_rows(const Block<double>& a, std::span<const int> pivots) {
  for (int column = 0; column < a.columns; ++column)
    for (std::size_t row = 0; row < pivots.size(); ++row)
      std::swap(a.at(static_cast<int>(row), column), a.at(pivots[row] - 1, column));
}

int largest_row(const Block<double>& a, int column) {
  int best = column;
  for (int row = column + 1; row < a.rows; ++row)
    if (std::abs(a.at(row, column)) > std::abs(a.at(best, column))) best = row;
  return best;
}

/// Divides what is below the diagonal by it, and takes its products from the columns to the right.
void eliminate(const Block<double>& a, int step) {
  const double pivot = a.at(step, step);
  for (int row = step + 1; row < a.rows; ++row) a.at(row, step) /= pivot;
  for (int column = step + 1; column < a.columns; ++column) {
    const double factor = a.at(step, column);
    for (int row = step + 1; row < a.rows; ++row) a.at(row, column) -= a.at(row, step) * factor;
  }
}

int factor_narrow(const Block<double>& a, std::span<int> pivots) {
  int singular = 0;
  for (int step = 0; step < a.columns; ++step) {
    const int row = largest_row(a, step);
    pivots[static_cast<std::size_t>(step)] = row + 1;
    exchange_rows(a.part(step, 0, a.rows - step, a.columns), std::array{row - step + 1});
    if (a.at(step, step) != 0)
      eliminate(a, step);
    else if (singular == 0)
      singular = step + 1;
  }
  return singular;
}

/// Brings the columns right of a factored panel of `width` up to it: exchanges, the rows of U, then the rest.
void update(const Blas& blas, const Block<double>& a, int width, std::span<const int> pivots) {
  const int rest = a.columns - width;
  const int below = a.rows - width;
  exchange_rows(a.part(0, width, a.rows, rest), pivots);
  const Block<double> top = a.part(0, width, width, rest);
  blas.solve_triangle(Triangle::unit_lower, a.part(0, 0, width, width), top);
  if (below > 0) blas.multiply(-1, a.part(width, 0, below, width), top, 1, a.part(width, width, below, rest));
}

/// Counts pivots of a lower part from the top, and exchanges the same rows left of it.
void settle(const Block<double>& left, std::span<int> pivots, int first) {
  exchange_rows(left, pivots);
  for (int& pivot : pivots) pivot += first;
}

int factor_panel(const Blas& blas, const Block<double>& a, std::span<int> pivots) {
  if (a.columns <= narrow) return factor_narrow(a, pivots);
  const int half = a.columns / 2;
  const int rest = a.columns - half;
  const int left = factor_panel(blas, a.part(0, 0, a.rows, half), part(pivots, 0, half));
  update(blas, a, half, part(pivots, 0, half));
  const int right = factor_panel(blas, a.part(half, half, a.rows - half, rest), part(pivots, half, rest));
  settle(a.part(half, 0, a.rows - half, half), part(pivots, half, rest), half);
  return left != 0 || right == 0 ? left : right + half;
}

std::unique_ptr<PhaseWork> make_solve_phase(const SolveParameters& parameters, const WorkloadContext& context) {
  return std::make_unique<SolvePhase>(parameters, context, blas_source({parameters.library, parameters.core}));
}

const Registered<WorkloadEntry> registered_solve{without_storage<SolveParameters>({
    .name = "solve",
    .doc = "Solves dense linear systems by a BLAS loaded at run time. It counts operations and checks the solutions as "
           "HPL does.",
    .make = single_phase_by(make_solve_phase),
})};

}  // namespace

int factor_blocked(const Blas& blas, const Block<double>& a, int width, std::span<int> pivots) {
  int singular = 0;
  for (int first = 0; first < a.columns; first += width) {
    const int columns = std::min(width, a.columns - first);
    const int rows = a.rows - first;
    const Block<double> trailing = a.part(first, first, rows, a.columns - first);
    const std::span<int> own = part(pivots, first, columns);
    const int found = factor_panel(blas, trailing.part(0, 0, rows, columns), own);
    if (found != 0 && singular == 0) singular = found + first;
    if (columns < trailing.columns) update(blas, trailing, columns, own);
    settle(a.part(first, 0, rows, first), own, first);
  }
  return singular;
}

void solve_factored(const Blas& blas, const Block<double>& factors, std::span<const int> pivots, std::span<double> x) {
  for (std::size_t row = 0; row < pivots.size(); ++row) std::swap(x[row], x[static_cast<std::size_t>(pivots[row] - 1)]);
  blas.solve_triangle(Triangle::unit_lower, factors, x);
  blas.solve_triangle(Triangle::upper, factors, x);
}

Table<SolveParameters> SolveParameters::table() {
  using P = SolveParameters;
  return joined<P>(
      Table<P>{
          count("n", &P::n, {1, 200'000}, "Solve for this many unknowns."),
          count("block", &P::block, {0, 65'536},
                "Use the engine's factorisation with panels of this many columns; 0 means the library's dgetrf, or "
                "where it has none the engine's with 192 columns."),
          count("seed", &P::seed, {}, "Set the seed of the matrix."),
      },
      CallParameters::table());
}

}  // namespace ullage
