// SPDX-License-Identifier: Apache-2.0
// Workload `solve`: dense linear systems by the machine's BLAS, counted and checked as HPL does it.
#include "linear/blas_library.hpp"
#include "linear/solve/phase.hpp"

namespace ullage {
namespace {

class Solve final : public Workload {
 public:
  Solve(const SolveParameters& parameters, const WorkloadContext& context)
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
  WorkloadContext context_;
};

const Registered<WorkloadEntry> registered_solve{{
    {"solve",
     "dense linear systems as HPL counts and checks them, by a BLAS that is loaded at run time",
     specs_of(SolveParameters::table()),
     {"no-storage"},
     {}},
    [](const Values&, const Capabilities&, const PlannedLayout&, const std::string&) { return Status{}; },
    [](const Values&, const PlannedLayout&) { return Needs{}; },
    [](const Values& values, const WorkloadContext& context) {
      return std::make_unique<Solve>(SolveParameters::from(values), context);
    },
    nullptr,
    false,
}};

}  // namespace
}  // namespace ullage
