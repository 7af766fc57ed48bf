// SPDX-License-Identifier: Apache-2.0
// Dense linear systems solved as HPL does it, one an operation.
#pragma once

#include "base/clock.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "linear/blas.hpp"
#include "linear/library_phase.hpp"
#include "linear/linear_check.hpp"
#include "linear/matrix.hpp"
#include "work/entry.hpp"
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

inline std::span<int> part(std::span<int> pivots, int first, int count) {
  return pivots.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

inline constexpr int warm_up_order = 768;

/// The panel of our own factorisation where nobody says: wide enough for the product to run at its full rate.
inline constexpr int usual_width = 192;

/// Solves by a BLAS, on each rank for itself.
class SolvePhase final : public SystemsPhase {
 public:
  SolvePhase(const SolveParameters& parameters, const WorkloadContext& context, BlasSource source)
      : SystemsPhase(parameters, parameters.n, parameters.seed),
        parameters_(parameters),
        context_(context),
        source_(std::move(source)) {}

  [[nodiscard]] PhaseInfo info() const override { return {.name = "solve"}; }

  [[nodiscard]] Status before() override {
    const auto n = static_cast<std::uint64_t>(parameters_.n);
    const auto ranks = static_cast<std::uint64_t>(context_.world->topology().ranks_on_node);
    if (Status room = check_room("solve", n * n * sizeof(double) * ranks); !room) return room;
    if (auto status = take_into(blas_, source_()); !status) return status;
    if (Status threads = blas_->use_threads(parameters_.threads); !threads) return threads;
    auto matrix = Matrix<double>::make(parameters_.n, parameters_.n);
    if (!matrix) return fail(matrix.error());
    matrix_.emplace(std::move(*matrix));
    pivots_.resize(n);
    x_.resize(n);
    if (Status made = make_system(seed_of(0)); !made) return made;
    warm_up();
    return {};
  }

  [[nodiscard]] Gauges gauges() const override {
    return with_residual(gauges_of(operations_a_call(), blas_->threads()));
  }

  [[nodiscard]] Map hints_granted() const override {
    if (blas_ == nullptr) return {};
    Map granted = blas_->facts();
    const int width = panel_width();
    granted["factorisation"] = width == 0 ? "dgetrf of the library" : "ours, panels of " + std::to_string(width);
    return granted;
  }

 private:
  [[nodiscard]] Status make_system(std::uint64_t seed) override {
    const std::uint64_t n = x_.size();
    for (std::uint64_t i = 0; i < n; ++i) x_[i] = uniform_element(seed, n * n + i);
    return fill_uniform(*matrix_, seed, parameters_.threads);
  }

  [[nodiscard]] int solve() override { return solve(matrix_->all()); }

  [[nodiscard]] std::string said(int not_solved) const override {
    return "the pivot of column " + std::to_string(not_solved) + " is zero";
  }

  [[nodiscard]] const std::vector<double>& solution() const override { return x_; }

  [[nodiscard]] double residual_of(std::uint64_t seed, const std::vector<double>& solution) const override {
    return scaled_residual(seed, solution);
  }

  [[nodiscard]] int panel_width() const {
    if (parameters_.block > 0) return parameters_.block;
    return blas_->can_factor() ? 0 : usual_width;
  }

  [[nodiscard]] int solve(const Block<double>& a) {
    const std::span<int> pivots(pivots_.data(), static_cast<std::size_t>(a.columns));
    const int width = panel_width();
    const int singular = width == 0 ? blas_->factor(a, pivots) : factor_blocked(*blas_, a, width, pivots);
    if (singular == 0) solve_factored(*blas_, a, pivots, {x_.data(), static_cast<std::size_t>(a.columns)});
    return singular;
  }

  /// Also makes the library's threads and buffers. What it leaves is no system any more.
  void warm_up() {
    const int n = std::min(parameters_.n, warm_up_order);
    const std::int64_t until = now_ns() + static_cast<std::int64_t>(parameters_.warm_up_s * 1e9);
    while (now_ns() < until) (void)solve(matrix_->all().part(0, 0, n, n));
  }

  SolveParameters parameters_;
  WorkloadContext context_;
  BlasSource source_;
  Blas* blas_ = nullptr;
  std::optional<Matrix<double>> matrix_;
  std::vector<int> pivots_;
  std::vector<double> x_;  // b until it is solved
};

}  // namespace ullage
