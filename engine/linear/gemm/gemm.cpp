// SPDX-License-Identifier: Apache-2.0
// Workload `gemm`: products of square matrices by the machine's BLAS.
#include "linear/blas_library.hpp"
#include "linear/gemm/phase.hpp"

namespace ullage {
namespace {

class Gemm final : public Workload {
 public:
  Gemm(const GemmParameters& parameters, const ComputeContext& context) : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    const BlasSource source = [choice = BlasChoice{parameters_.library, parameters_.core}] {
      return load_blas(choice);
    };
    if (parameters_.type == GemmType::fp32) return std::make_unique<GemmPhase<float>>(parameters_, context_, source);
    return std::make_unique<GemmPhase<double>>(parameters_, context_, source);
  }

 private:
  GemmParameters parameters_;
  ComputeContext context_;
};

const Registered<WorkloadEntry> registered_gemm{{
    .description = {.name = "gemm",
                    .doc = "products of square matrices by a BLAS, which is loaded at run time",
                    .parameters = specs_of(GemmParameters::table())},
    .work = ComputeWork{.make =
                            [](const Values& values, const ComputeContext& context) {
                              return std::make_unique<Gemm>(GemmParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
