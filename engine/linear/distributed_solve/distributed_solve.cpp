// SPDX-License-Identifier: Apache-2.0
// Workload `distributed-solve`: a dense linear system over all ranks, counted and checked as HPL does it.
#include "linear/distributed_solve/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
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
