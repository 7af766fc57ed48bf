// SPDX-License-Identifier: Apache-2.0
// LU factorisation with partial pivoting over a library's matrix product, for a BLAS without LAPACK, and the solve.
#pragma once

#include <span>

#include "linear/blas.hpp"

namespace ullage {

/// Blas::factor for any BLAS: right-looking over panels of `width` >= 1 columns, each of which is factored by halves
/// (Toledo, SIAM J. Matrix Anal. Appl. 18(4), 1997). `a` has at least as many rows as columns.
[[nodiscard]] int factor_blocked(const Blas& blas, const Block<double>& a, int width, std::span<int> pivots);

/// x := A^-1 x, out of what factoring left.
void solve_factored(const Blas& blas, const Block<double>& factors, std::span<const int> pivots, std::span<double> x);

}  // namespace ullage
