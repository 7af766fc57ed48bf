// SPDX-License-Identifier: Apache-2.0
// One dense linear system over all ranks, as HPL does it: by ScaLAPACK's pdgesv.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "linear/distributed_solve/process_grid.hpp"
#include "linear/distributed_solve/scalapack_library.hpp"
#include "linear/matrix.hpp"
#include "linear/timed_calls.hpp"
#include "work/workload.hpp"

namespace ullage {

struct DistributedSolveParameters : CallParameters {
  int n = 4096;
  int block = 64;
  int grid_rows = 0;
  std::uint64_t seed = 1;

  [[nodiscard]] static Table<DistributedSolveParameters> table();
};

/// The grid has to take all ranks.
[[nodiscard]] Status check_distributed_solve(const DistributedSolveParameters& parameters, int ranks,
                                             const std::string& pointer);

using ScalapackSource = std::function<Result<const Scalapack*>()>;

/// A x = b with the elements of workload `solve`, dealt out in blocks over a grid of all ranks, `calls` times, each
/// with a seed of its own. Gauges as of `solve`; operations are a rank's share, so that their sum is the system's.
class DistributedSolvePhase final : public PhaseWork {
 public:
  DistributedSolvePhase(const DistributedSolveParameters& parameters, const WorkloadContext& context,
                        ScalapackSource source)
      : parameters_(parameters), context_(context), source_(std::move(source)) {}
  ~DistributedSolvePhase() override;

  [[nodiscard]] PhaseInfo info() const override { return {.name = "distributed-solve", .collective = true}; }
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
  [[nodiscard]] Status load();
  void make_grid();
  [[nodiscard]] Status make_matrix();
  void make_system(std::uint64_t call);
  /// `n` unknowns, at most as many as the matrix has.
  [[nodiscard]] int solve(int n);
  void warm_up();
  /// Collective, as the solution lies with the first column of processes.
  [[nodiscard]] double residual_of(std::uint64_t call) const;

  DistributedSolveParameters parameters_;
  WorkloadContext context_;
  ScalapackSource source_;
  const Scalapack* library_ = nullptr;
  GridShape shape_;
  int grid_ = -1;  // BLACS context; -1: none
  int row_ = 0;    // of this process in the grid
  int column_ = 0;
  std::optional<BlockCyclic> rows_;
  std::optional<BlockCyclic> columns_;
  std::optional<Matrix<double>> matrix_;
  std::vector<double> x_;  // this rank's part of b until it is solved
  std::vector<int> pivots_;
  std::vector<std::vector<double>> solutions_;  // parts
  int singular_ = 0;
  double residual_ = 0;
  TimedCalls calls_;
};

}  // namespace ullage
