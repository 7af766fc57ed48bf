// SPDX-License-Identifier: Apache-2.0
// Workload `solve`: dense linear systems by the machine's BLAS, counted and checked as HPL does it.
#include "linear/blas_library.hpp"
#include "linear/solve/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
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
