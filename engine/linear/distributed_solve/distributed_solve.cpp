// SPDX-License-Identifier: Apache-2.0
// Workload `distributed-solve`: a dense linear system over all ranks, counted and checked as HPL does it.
#include "linear/distributed_solve/phase.hpp"

namespace ullage {
namespace {

class DistributedSolve final : public Workload {
 public:
  DistributedSolve(const DistributedSolveParameters& parameters, const ComputeContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    const ScalapackSource source = [choice = ScalapackChoice{parameters_.library, parameters_.core}] {
      return load_scalapack(choice);
    };
    return std::make_unique<DistributedSolvePhase>(parameters_, context_, source);
  }

 private:
  DistributedSolveParameters parameters_;
  ComputeContext context_;
};

const Registered<WorkloadEntry> registered_distributed_solve{{
    .description = {.name = "distributed-solve",
                    .doc = "a dense linear system over all ranks as HPL counts and checks it, by a ScaLAPACK that is "
                           "loaded at run time",
                    .parameters = specs_of(DistributedSolveParameters::table())},
    .work = ComputeWork{
        .check =
            [](const Values& values, const PlannedLayout& layout, const std::string& pointer) {
              return check_distributed_solve(DistributedSolveParameters::from(values), layout.ranks, pointer);
            },
        .make =
            [](const Values& values, const ComputeContext& context) {
              return std::make_unique<DistributedSolve>(DistributedSolveParameters::from(values), context);
            }},
}};

}  // namespace
}  // namespace ullage
