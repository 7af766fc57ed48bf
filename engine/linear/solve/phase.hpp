// SPDX-License-Identifier: Apache-2.0
// Dense linear systems solved as HPL does it, one an operation.
#pragma once

#include <optional>
#include <vector>

#include "linear/blas.hpp"
#include "linear/matrix.hpp"
#include "linear/timed_calls.hpp"
#include "work/workload.hpp"

namespace ullage {

struct SolveParameters : CallParameters {
  int n = 4096;
  int block = 0;
  std::uint64_t seed = 1;

  [[nodiscard]] static Table<SolveParameters> table();
};

/// A x = b with elements evenly spread over [-0.5, 0.5), `calls` times, each with a seed of its own: LU factorisation
/// with partial pivoting, then both triangles, timed together. Making A is not. Gauges besides TimedCalls': operations
/// (HPL's 2/3 n^3 + 3/2 n^2 a call), residual (HPL's scaled one, the largest of all calls), threads (asked for),
/// library_threads.
class SolvePhase final : public PhaseWork {
 public:
  SolvePhase(const SolveParameters& parameters, const WorkloadContext& context, BlasSource source)
      : parameters_(parameters), context_(context), source_(std::move(source)) {}

  [[nodiscard]] PhaseInfo info() const override { return {.name = "solve"}; }
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return static_cast<std::uint64_t>(parameters_.calls); }
  /// One system: factoring destroys it, so each is made anew.
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;
  [[nodiscard]] Map hints_given() const override { return given(parameters_); }
  [[nodiscard]] Map hints_granted() const override;

 private:
  [[nodiscard]] std::uint64_t seed_of(std::uint64_t call) const;
  [[nodiscard]] Status make_system(std::uint64_t call);
  [[nodiscard]] int panel_width() const;
  void solve(const Block<double>& a);
  void warm_up();

  SolveParameters parameters_;
  WorkloadContext context_;
  BlasSource source_;
  Blas* blas_ = nullptr;
  std::optional<Matrix<double>> matrix_;
  std::vector<int> pivots_;
  std::vector<double> x_;  // b until it is solved
  std::vector<std::vector<double>> solutions_;
  Status made_;
  int singular_ = 0;
  double residual_ = 0;
  TimedCalls calls_;
};

}  // namespace ullage
