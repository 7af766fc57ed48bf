// SPDX-License-Identifier: Apache-2.0
// Workload `distributed-solve`: a dense linear system over all ranks, counted and checked as HPL does it.
#include "linear/distributed_solve/distributed_solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/clock.hpp"
#include "base/resources.hpp"
#include "linear/linear_check.hpp"
#include "mpi/agreement.hpp"
#include "work/entry.hpp"

namespace ullage {

GridShape grid_shape(int ranks, int rows) {
  if (rows > 0) return {rows, ranks / rows};
  int best = 1;
  for (int candidate = 1; candidate * candidate <= ranks; ++candidate)
    if (ranks % candidate == 0) best = candidate;
  return {best, ranks / best};
}

int BlockCyclic::count() const {
  const int whole_blocks = total_ / block_;
  const int rounds = whole_blocks / processes_;
  const int extra = whole_blocks % processes_;
  int count = rounds * block_;
  if (me_ < extra) count += block_;
  if (me_ == extra) count += total_ % block_;
  return count;
}

namespace {

constexpr int small_n = 512;
constexpr int no_grid = -1;
constexpr int one = 1;

/// ScaLAPACK's description of a dense matrix of `rows` x `columns` (its Users' Guide, table 4.8).
std::array<int, 9> descriptor(int grid, int rows, int columns, int block, int local_rows) {
  constexpr int dense = 1;
  return {dense, grid, rows, columns, block, block, 0, 0, std::max(1, local_rows)};
}

}  // namespace

Table<DistributedSolveParameters> DistributedSolveParameters::table() {
  using P = DistributedSolveParameters;
  auto of_calls = CallParameters::table();
  std::ranges::find(of_calls, "library", [](const auto& field) { return field.spec.name; })->spec.doc =
      "Load the ScaLAPACK of this path or name; empty means the one of this MPI that the dynamic linker finds.";
  return joined<P>(
      Table<P>{
          count("n", &P::n, {1, 1'000'000}, "Solve for this many unknowns."),
          count("block", &P::block, {1, 4096}, "Distribute the matrix in blocks of this many rows and columns."),
          count("grid_rows", &P::grid_rows, {0, 1'000'000},
                "Arrange the processes in a grid of this many rows; 0 means as square as the ranks allow, and wider "
                "than high."),
          count("seed", &P::seed, {}, "Set the seed of the matrix."),
      },
      std::move(of_calls));
}

Status check_distributed_solve(const DistributedSolveParameters& parameters, int ranks, const std::string& pointer) {
  if (parameters.grid_rows == 0 || ranks % parameters.grid_rows == 0) return {};
  return fail(bad_plan(pointer + "/grid_rows", std::to_string(parameters.grid_rows) + " rows do not divide " +
                                                   std::to_string(ranks) + " ranks"));
}

DistributedSolvePhase::~DistributedSolvePhase() {
  if (grid_ != no_grid) library_->grid_exit(&grid_);
}

Status DistributedSolvePhase::load() {
  const auto library = source_();
  if (!library) return fail(library.error());
  library_ = *library;
  if (library_->set_threads != nullptr)
    library_->set_threads(parameters_.threads);
  else if (parameters_.threads > 1)
    return fail(environment_error("distributed-solve",
                                  library_->facts.at("blas") + " cannot set its number of threads; use threads 1"));
  return {};
}

void DistributedSolvePhase::make_grid() {
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

Status DistributedSolvePhase::allocate() {
  if (Status loaded = load(); !loaded) return loaded;
  const auto n = static_cast<std::uint64_t>(parameters_.n);
  const auto ranks = static_cast<std::uint64_t>(context_.world->size());
  const auto here = static_cast<std::uint64_t>(context_.world->topology().ranks_on_node);
  return check_room("distributed-solve", n * n * sizeof(double) / ranks * here);
}

Status DistributedSolvePhase::make_matrix() {
  auto matrix = Matrix<double>::make(std::max(1, rows_->count()), std::max(1, columns_->count()));
  if (!matrix) return fail(matrix.error());
  matrix_.emplace(std::move(*matrix));
  x_.resize(static_cast<std::size_t>(std::max(1, rows_->count())));
  pivots_.resize(static_cast<std::size_t>(rows_->count()) + static_cast<std::size_t>(parameters_.block));
  return {};
}

/// Nobody enters a grid alone: what one rank lacks is agreed on before.
Status DistributedSolvePhase::before() {
  make_grid();
  Status ready = mpi::agreed_allocation(context_.world->all(), [this] { return make_matrix(); });
  if (!ready) return ready;
  ready = make_system(seed_of(0));
  warm_up();
  return {};
}

Status DistributedSolvePhase::make_system(std::uint64_t seed) {
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

int DistributedSolvePhase::solve_first(int n) {
  const int local_rows = matrix_->all().rows;
  const auto of_a = descriptor(grid_, parameters_.n, parameters_.n, parameters_.block, local_rows);
  const auto of_b = descriptor(grid_, parameters_.n, one, parameters_.block, local_rows);
  int info = 0;
  library_->pdgesv(&n, &one, matrix_->all().data, &one, &one, of_a.data(), pivots_.data(), x_.data(), &one, &one,
                   of_b.data(), &info);
  return info;
}

/// Also makes MPI's connections and the library's buffers. What it leaves is no system any more.
void DistributedSolvePhase::warm_up() {
  const mpi::Comm& all = context_.world->all();
  const std::int64_t until = now_ns() + static_cast<std::int64_t>(parameters_.warm_up_s * 1e9);
  while (all.any(now_ns() < until)) (void)solve_first(std::min(parameters_.n, small_n));
}

std::string DistributedSolvePhase::said(int not_solved) const {
  return "pdgesv ended with " + std::to_string(not_solved);
}

double DistributedSolvePhase::residual_of(std::uint64_t seed, const std::vector<double>& solution) const {
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

Gauges DistributedSolvePhase::gauges() const {
  return with_residual(gauges_of(operations_a_call() / context_.world->size(), parameters_.threads));
}

Map DistributedSolvePhase::hints_granted() const {
  if (library_ == nullptr) return {};
  Map granted = library_->facts;
  granted["factorisation"] = "pdgesv, blocks of " + std::to_string(parameters_.block) + ", " +
                             std::to_string(shape_.rows) + " x " + std::to_string(shape_.columns) + " processes";
  return granted;
}

namespace {

std::unique_ptr<PhaseWork> make_distributed_phase(const DistributedSolveParameters& parameters,
                                                  const WorkloadContext& context) {
  const ScalapackSource source = [choice = ScalapackChoice{parameters.library, parameters.core}] {
    return load_scalapack(choice);
  };
  return std::make_unique<DistributedSolvePhase>(parameters, context, source);
}

const Registered<WorkloadEntry> registered_distributed_solve{without_storage<DistributedSolveParameters>({
    .name = "distributed-solve",
    .doc = "Solves a dense linear system over all ranks by a ScaLAPACK loaded at run time. It counts operations and "
           "checks the solution as HPL does.",
    .check = check_distributed_solve,
    .make = single_phase_by(make_distributed_phase),
})};

}  // namespace
}  // namespace ullage
