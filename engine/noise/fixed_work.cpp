// SPDX-License-Identifier: Apache-2.0
// Workload `fixed-work`: the machine's noise, by work that always takes the same number of cycles.
#include "noise/fixed_work_phase.hpp"

namespace ullage {
namespace {

class FixedWork final : public Workload {
 public:
  FixedWork(const FixedWorkParameters& parameters, const ComputeContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<FixedWorkPhase>(parameters_, context_);
  }

 private:
  FixedWorkParameters parameters_;
  ComputeContext context_;
};

const Registered<WorkloadEntry> registered_fixed_work{{
    .description =
        {.name = "fixed-work",
         .doc = "quanta of the same work on each thread, and a watch for detours: the time that others take from it",
         .parameters = specs_of(FixedWorkParameters::table())},
    .work = ComputeWork{.make =
                            [](const Values& values, const ComputeContext& context) {
                              return std::make_unique<FixedWork>(FixedWorkParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
