// SPDX-License-Identifier: Apache-2.0
// Workload `distributed-solve`: a dense linear system over all ranks, counted and checked as HPL does it.
#include "linear/distributed_solve/distributed_solve.hpp"

namespace ullage {

GridShape grid_shape(int ranks, int rows) {
  if (rows > 0) return {rows, ranks / rows};
  int best = 1;
  for (int candidate = 1; candidate * candidate <= ranks; ++candidate)
    if (ranks % candidate == 0) best = candidate;
  return {best, ranks / best};
}

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
