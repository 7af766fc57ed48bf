// SPDX-License-Identifier: Apache-2.0
// Workload `solve`: dense linear systems by the machine's BLAS, counted and checked as HPL does it.
#include "linear/solve/solve.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/resources.hpp"
#include "linear/blas_library.hpp"
#include "linear/factorisation.hpp"
#include "linear/linear_check.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr int warm_up_order = 768;
/// The panel of our own factorisation where nobody says: wide enough for the product to run at its full rate.
constexpr int usual_width = 192;

}  // namespace

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

Status SolvePhase::before() {
  const auto n = static_cast<std::uint64_t>(parameters_.n);
  const auto ranks = static_cast<std::uint64_t>(context_.world->topology().ranks_on_node);
  if (Status room = check_room("solve", n * n * sizeof(double) * ranks); !room) return room;
  const auto blas = source_();
  if (!blas) return fail(blas.error());
  blas_ = *blas;
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

Status SolvePhase::make_system(std::uint64_t seed) {
  const std::uint64_t n = x_.size();
  for (std::uint64_t i = 0; i < n; ++i) x_[i] = uniform_element(seed, n * n + i);
  return fill_uniform(*matrix_, seed, parameters_.threads);
}

int SolvePhase::panel_width() const {
  if (parameters_.block > 0) return parameters_.block;
  return blas_->can_factor() ? 0 : usual_width;
}

int SolvePhase::solve(const Block<double>& a) {
  const std::span<int> pivots(pivots_.data(), static_cast<std::size_t>(a.columns));
  const int width = panel_width();
  const int singular = width == 0 ? blas_->factor(a, pivots) : factor_blocked(*blas_, a, width, pivots);
  if (singular == 0) solve_factored(*blas_, a, pivots, {x_.data(), static_cast<std::size_t>(a.columns)});
  return singular;
}

/// Also makes the library's threads and buffers. What it leaves is no system any more.
void SolvePhase::warm_up() {
  const int n = std::min(parameters_.n, warm_up_order);
  const std::int64_t until = now_ns() + static_cast<std::int64_t>(parameters_.warm_up_s * 1e9);
  while (now_ns() < until) (void)solve(matrix_->all().part(0, 0, n, n));
}

std::string SolvePhase::said(int not_solved) const {
  return "the pivot of column " + std::to_string(not_solved) + " is zero";
}

double SolvePhase::residual_of(std::uint64_t seed, const std::vector<double>& solution) const {
  return scaled_residual(seed, solution);
}

Gauges SolvePhase::gauges() const { return with_residual(gauges_of(operations_a_call(), blas_->threads())); }

Map SolvePhase::hints_granted() const {
  if (blas_ == nullptr) return {};
  Map granted = blas_->facts();
  const int width = panel_width();
  granted["factorisation"] = width == 0 ? "dgetrf of the library" : "ours, panels of " + std::to_string(width);
  return granted;
}

namespace {

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
}  // namespace ullage
