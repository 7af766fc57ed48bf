// SPDX-License-Identifier: Apache-2.0
// One dense linear system over all ranks, as HPL does it: by ScaLAPACK's pdgesv.
#pragma once

#include <cmath>
#include <functional>

#include "base/clock.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "linear/distributed_solve/scalapack_library.hpp"
#include "linear/library_phase.hpp"
#include "linear/linear_check.hpp"
#include "linear/matrix.hpp"
#include "mpi/agreement.hpp"
#include "work/entry.hpp"
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
  [[nodiscard]] int count() const {
    const int whole_blocks = total_ / block_;
    const int rounds = whole_blocks / processes_;
    const int extra = whole_blocks % processes_;
    int count = rounds * block_;
    if (me_ < extra) count += block_;
    if (me_ == extra) count += total_ % block_;
    return count;
  }

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

inline constexpr int small_n = 512;
inline constexpr int no_grid = -1;
inline constexpr int step_of_one = 1;

/// ScaLAPACK's description of a dense matrix of `rows` x `columns` (its Users' Guide, table 4.8).
inline std::array<int, 9> descriptor(int grid, int rows, int columns, int block, int local_rows) {
  constexpr int dense = 1;
  return {dense, grid, rows, columns, block, block, 0, 0, std::max(1, local_rows)};
}

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

  ~DistributedSolvePhase() override {
    if (grid_ != no_grid) library_->grid_exit(&grid_);
  }

  [[nodiscard]] PhaseInfo info() const override { return {.name = "distributed-solve", .collective = true}; }

  [[nodiscard]] Status allocate() override {
    if (Status loaded = load(); !loaded) return loaded;
    const auto n = static_cast<std::uint64_t>(parameters_.n);
    const auto ranks = static_cast<std::uint64_t>(context_.world->size());
    const auto here = static_cast<std::uint64_t>(context_.world->topology().ranks_on_node);
    return check_room("distributed-solve", n * n * sizeof(double) / ranks * here);
  }

  /// Nobody enters a grid alone: what one rank lacks is agreed on before.
  [[nodiscard]] Status before() override {
    make_grid();
    Status ready = mpi::agreed_allocation(context_.world->all(), [this] { return make_matrix(); });
    if (!ready) return ready;
    ready = make_system(seed_of(0));
    warm_up();
    return {};
  }

  [[nodiscard]] Gauges gauges() const override {
    return with_residual(gauges_of(operations_a_call() / context_.world->size(), parameters_.threads));
  }

  [[nodiscard]] Map hints_granted() const override {
    if (library_ == nullptr) return {};
    Map granted = library_->facts;
    granted["factorisation"] = "pdgesv, blocks of " + std::to_string(parameters_.block) + ", " +
                               std::to_string(shape_.rows) + " x " + std::to_string(shape_.columns) + " processes";
    return granted;
  }

 private:
  [[nodiscard]] Status make_system(std::uint64_t seed) override {
    const auto n = static_cast<std::uint64_t>(parameters_.n);
    const Block<double> a = matrix_->all();
    for (int j = 0; j < columns_->count(); ++j)
      for (int i = 0; i < rows_->count(); ++i)
        a.at(i, j) = uniform_element(
            seed, static_cast<std::uint64_t>(rows_->global(i)) + static_cast<std::uint64_t>(columns_->global(j)) * n);
    for (int i = 0; i < rows_->count(); ++i)
      x_[static_cast<std::size_t>(i)] = uniform_element(seed, n * n + static_cast<std::uint64_t>(rows_->global(i)));
    return {};
  }

  [[nodiscard]] int solve() override { return solve_first(parameters_.n); }

  [[nodiscard]] std::string said(int not_solved) const override {
    return "pdgesv ended with " + std::to_string(not_solved);
  }

  [[nodiscard]] const std::vector<double>& solution() const override { return x_; }

  /// Collective, as the solution lies with the first column of processes.
  [[nodiscard]] double residual_of(std::uint64_t seed, const std::vector<double>& solution) const override {
    const auto n = static_cast<std::size_t>(parameters_.n);
    const mpi::Comm& all = context_.world->all();
    std::vector<double> x;
    std::vector<double> ax;
    std::vector<double> row_sums;
    mpi::allocate_or_throw(all, [&] {
      for (auto* values : {&x, &ax, &row_sums}) values->resize(n);
    });
    for (int i = 0; column_ == 0 && i < rows_->count(); ++i)
      x[static_cast<std::size_t>(rows_->global(i))] = solution[static_cast<std::size_t>(i)];
    all.sum_all(std::span(x));
    for (int j = 0; j < columns_->count(); ++j) {
      const auto column = static_cast<std::uint64_t>(columns_->global(j));
      for (int i = 0; i < rows_->count(); ++i) {
        const auto row = static_cast<std::size_t>(rows_->global(i));
        const double element = uniform_element(seed, row + column * n);
        ax[row] += element * x[column];
        row_sums[row] += std::abs(element);
      }
    }
    all.sum_all(std::span(ax));
    all.sum_all(std::span(row_sums));
    return scaled_residual(seed, x, ax, row_sums);
  }

  [[nodiscard]] bool counts_it() const override { return context_.world->root(); }

  [[nodiscard]] Status load() {
    if (auto status = take_into(library_, source_()); !status) return status;
    if (library_->set_threads != nullptr)
      library_->set_threads(parameters_.threads);
    else if (parameters_.threads > 1)
      return fail(environment_error("distributed-solve",
                                    library_->facts.at("blas") + " cannot set its number of threads; use threads 1"));
    return {};
  }

  void make_grid() {
    constexpr int system_context = -1;
    constexpr int default_value = 0;
    shape_ = grid_shape(context_.world->size(), parameters_.grid_rows);
    library_->get(&system_context, &default_value, &grid_);
    library_->grid_init(&grid_, "Row", &shape_.rows, &shape_.columns, 3);
    GridShape seen;
    library_->grid_info(&grid_, &seen.rows, &seen.columns, &row_, &column_);
    rows_.emplace(parameters_.n, parameters_.block, shape_.rows, row_);
    columns_.emplace(parameters_.n, parameters_.block, shape_.columns, column_);
  }

  [[nodiscard]] Status make_matrix() {
    auto matrix = Matrix<double>::make(std::max(1, rows_->count()), std::max(1, columns_->count()));
    if (!matrix) return fail(matrix.error());
    matrix_.emplace(std::move(*matrix));
    x_.resize(static_cast<std::size_t>(std::max(1, rows_->count())));
    pivots_.resize(static_cast<std::size_t>(rows_->count()) + static_cast<std::size_t>(parameters_.block));
    return {};
  }

  /// The first `n` unknowns, at most as many as the matrix has.
  [[nodiscard]] int solve_first(int n) {
    const int local_rows = matrix_->all().rows;
    const auto of_a = descriptor(grid_, parameters_.n, parameters_.n, parameters_.block, local_rows);
    const auto of_b = descriptor(grid_, parameters_.n, step_of_one, parameters_.block, local_rows);
    int info = 0;
    library_->pdgesv(&n, &step_of_one, matrix_->all().data, &step_of_one, &step_of_one, of_a.data(), pivots_.data(),
                     x_.data(), &step_of_one, &step_of_one, of_b.data(), &info);
    return info;
  }

  /// Also makes MPI's connections and the library's buffers. What it leaves is no system any more.
  void warm_up() {
    const mpi::Comm& all = context_.world->all();
    const std::int64_t until = now_ns() + static_cast<std::int64_t>(parameters_.warm_up_s * 1e9);
    while (all.any(now_ns() < until)) (void)solve_first(std::min(parameters_.n, small_n));
  }

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
