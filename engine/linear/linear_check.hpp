// SPDX-License-Identifier: Apache-2.0
// Whether a library's results are right. By plain sums, which use nothing of the library.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "linear/blas.hpp"

namespace ullage {

/// Checks whether C = A B, square matrices: two rows and two columns by plain dot products, and all of C through a
/// vector v of +1 and -1, as C v = A (B v) (Freivalds, 1977). Every sum may differ by what rounding can do to it, n eps
/// |a||b|; so a wrong element shows in its row or column by that, and anywhere by sqrt(n) times as much. `seed` chooses
/// rows, columns and signs.
[[nodiscard]] Status check_product(const Block<double>& a, const Block<double>& b, const Block<double>& c,
                                   std::uint64_t seed);
[[nodiscard]] Status check_product(const Block<float>& a, const Block<float>& b, const Block<float>& c,
                                   std::uint64_t seed);

/// At and above it a solution is wrong (HPL's rule).
constexpr double most_residual = 16;

/// HPL's scaled residual of a solution x of A x = b, where A is n x n of uniform_element(seed, i + j n), made again
/// here column by column, and b_i of uniform_element(seed, n n + i):
/// ||A x - b||_oo / (eps (||A||_oo ||x||_oo + ||b||_oo) n), eps = 2^-53. Not finite when x is not.
[[nodiscard]] double scaled_residual(std::uint64_t seed, std::span<const double> x);
/// Returns the same where A x and the sums of |A|'s rows were added up elsewhere, `ax` and `row_sums`.
[[nodiscard]] double scaled_residual(std::uint64_t seed, std::span<const double> x, std::span<const double> ax,
                                     std::span<const double> row_sums);

}  // namespace ullage
