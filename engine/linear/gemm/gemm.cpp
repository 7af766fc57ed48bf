// SPDX-License-Identifier: Apache-2.0
// Workload `gemm`: products of square matrices by the machine's BLAS.
#include "linear/blas_library.hpp"
#include "linear/gemm/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

std::unique_ptr<PhaseWork> make_gemm_phase(const GemmParameters& parameters, const WorkloadContext& context) {
  const BlasSource source = blas_source({parameters.library, parameters.core});
  if (parameters.type == GemmType::fp32) return std::make_unique<GemmPhase<float>>(parameters, context, source);
  return std::make_unique<GemmPhase<double>>(parameters, context, source);
}

const Registered<WorkloadEntry> registered_gemm{without_storage<GemmParameters>({
    .name = "gemm",
    .doc = "Multiplies square matrices by a BLAS that is loaded at run time.",
    .make = single_phase_by(make_gemm_phase),
})};

}  // namespace
}  // namespace ullage
