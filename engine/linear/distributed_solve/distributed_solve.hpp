// SPDX-License-Identifier: Apache-2.0
// One dense linear system over all ranks, as HPL does it: by ScaLAPACK's pdgesv.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "linear/distributed_solve/scalapack_library.hpp"
#include "linear/library_phase.hpp"
#include "linear/matrix.hpp"
#include "work/workload.hpp"

namespace ullage {

// How ScaLAPACK deals a matrix out to processes: blocks of rows and columns in turn (its Users' Guide, section 4.3).

struct GridShape {
  int rows = 1;
  int columns = 1;
  friend bool operator==(const GridShape&, const GridShape&) = default;
};

/// `rows` of processes, 0: as square as `ranks` allow and wider than high, as HPL's guide advises. `rows` divides
/// `ranks`.
[[nodiscard]] GridShape grid_shape(int ranks, int rows);

/// Says which of `total` indices, dealt out in blocks of `block` to `processes`, process `me` has.
class BlockCyclic final {
 public:
  BlockCyclic(int total, int block, int processes, int me)
      : total_(total), block_(block), processes_(processes), me_(me) {}
  /// Returns how many.
  [[nodiscard]] int count() const;
  /// The `local`-th of them, counted from 0.
  [[nodiscard]] int global(int local) const { return (local / block_ * processes_ + me_) * block_ + local % block_; }

 private:
  int total_;
  int block_;
  int processes_;
  int me_;
};

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

/// The elements of workload `solve`, dealt out in blocks over a grid of all ranks. Operations are a rank's share, so
/// that their sum is the system's.
class DistributedSolvePhase final : public SystemsPhase {
 public:
  DistributedSolvePhase(const DistributedSolveParameters& parameters, const WorkloadContext& context,
                        ScalapackSource source)
      : SystemsPhase(parameters, parameters.n, parameters.seed),
        parameters_(parameters),
        context_(context),
        source_(std::move(source)) {}
  ~DistributedSolvePhase() override;

  [[nodiscard]] PhaseInfo info() const override { return {.name = "distributed-solve", .collective = true}; }
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] Gauges gauges() const override;
  [[nodiscard]] Map hints_granted() const override;

 private:
  [[nodiscard]] Status make_system(std::uint64_t seed) override;
  [[nodiscard]] int solve() override { return solve_first(parameters_.n); }
  [[nodiscard]] std::string said(int not_solved) const override;
  [[nodiscard]] const std::vector<double>& solution() const override { return x_; }
  /// Collective, as the solution lies with the first column of processes.
  [[nodiscard]] double residual_of(std::uint64_t seed, const std::vector<double>& solution) const override;
  [[nodiscard]] bool counts_it() const override { return context_.world->root(); }
  [[nodiscard]] Status load();
  void make_grid();
  [[nodiscard]] Status make_matrix();
  /// The first `n` unknowns, at most as many as the matrix has.
  [[nodiscard]] int solve_first(int n);
  void warm_up();

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
};

}  // namespace ullage
