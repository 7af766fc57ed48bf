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
    .doc = "dense linear systems as HPL counts and checks them, by a BLAS that is loaded at run time",
    .make = single_phase_by(make_solve_phase),
})};

}  // namespace
}  // namespace ullage
