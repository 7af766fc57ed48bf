// SPDX-License-Identifier: Apache-2.0
// Dense linear systems solved as HPL does it, one an operation.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "linear/blas.hpp"
#include "linear/library_phase.hpp"
#include "linear/matrix.hpp"
#include "work/workload.hpp"

namespace ullage {

// LU factorisation with partial pivoting over a library's matrix product, for a BLAS without LAPACK, and the solve.

/// Blas::factor for any BLAS: right-looking over panels of `width` >= 1 columns, each of which is factored by halves
/// (Toledo, SIAM J. Matrix Anal. Appl. 18(4), 1997). `a` has at least as many rows as columns.
[[nodiscard]] int factor_blocked(const Blas& blas, const Block<double>& a, int width, std::span<int> pivots);

/// x := A^-1 x, out of what factoring left.
void solve_factored(const Blas& blas, const Block<double>& factors, std::span<const int> pivots, std::span<double> x);

struct SolveParameters : CallParameters {
  int n = 4096;
  int block = 0;
  std::uint64_t seed = 1;

  [[nodiscard]] static Table<SolveParameters> table();
};

/// Solves by a BLAS, on each rank for itself.
class SolvePhase final : public SystemsPhase {
 public:
  SolvePhase(const SolveParameters& parameters, const WorkloadContext& context, BlasSource source)
      : SystemsPhase(parameters, parameters.n, parameters.seed),
        parameters_(parameters),
        context_(context),
        source_(std::move(source)) {}

  [[nodiscard]] PhaseInfo info() const override { return {.name = "solve"}; }
  [[nodiscard]] Status before() override;
  [[nodiscard]] Gauges gauges() const override;
  [[nodiscard]] Map hints_granted() const override;

 private:
  [[nodiscard]] Status make_system(std::uint64_t seed) override;
  [[nodiscard]] int solve() override { return solve(matrix_->all()); }
  [[nodiscard]] std::string said(int not_solved) const override;
  [[nodiscard]] const std::vector<double>& solution() const override { return x_; }
  [[nodiscard]] double residual_of(std::uint64_t seed, const std::vector<double>& solution) const override;
  [[nodiscard]] int panel_width() const;
  [[nodiscard]] int solve(const Block<double>& a);
  void warm_up();

  SolveParameters parameters_;
  WorkloadContext context_;
  BlasSource source_;
  Blas* blas_ = nullptr;
  std::optional<Matrix<double>> matrix_;
  std::vector<int> pivots_;
  std::vector<double> x_;  // b until it is solved
};

}  // namespace ullage
