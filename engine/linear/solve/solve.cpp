// SPDX-License-Identifier: Apache-2.0
// Workload `solve`: dense linear systems by the machine's BLAS, counted and checked as HPL does it.
#include "linear/blas_library.hpp"
#include "linear/solve/phase.hpp"

namespace ullage {
namespace {

class Solve final : public Workload {
 public:
  Solve(const SolveParameters& parameters, const ComputeContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    const BlasSource source = [choice = BlasChoice{parameters_.library, parameters_.core}] {
      return load_blas(choice);
    };
    return std::make_unique<SolvePhase>(parameters_, context_, source);
  }

 private:
  SolveParameters parameters_;
  ComputeContext context_;
};

const Registered<WorkloadEntry> registered_solve{{
    .description = {.name = "solve",
                    .doc = "dense linear systems as HPL counts and checks them, by a BLAS that is loaded at run time",
                    .parameters = specs_of(SolveParameters::table())},
    .work = ComputeWork{.make =
                            [](const Values& values, const ComputeContext& context) {
                              return std::make_unique<Solve>(SolveParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
