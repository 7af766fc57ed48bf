// SPDX-License-Identifier: Apache-2.0
// Workload `distributed-solve`: a dense linear system over all ranks, counted and checked as HPL does it.
#include "linear/distributed_solve/phase.hpp"

namespace ullage {
namespace {

class DistributedSolve final : public Workload {
 public:
  DistributedSolve(const DistributedSolveParameters& parameters, const WorkloadContext& context)
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
  WorkloadContext context_;
};

const Registered<WorkloadEntry> registered_distributed_solve{{
    {"distributed-solve",
     "a dense linear system over all ranks as HPL counts and checks it, by a ScaLAPACK that is loaded at run time",
     specs_of(DistributedSolveParameters::table()),
     {"no-storage"},
     {}},
    [](const Values& values, const Capabilities&, const PlannedLayout& layout, const std::string& pointer) {
      return check_distributed_solve(DistributedSolveParameters::from(values), layout.ranks, pointer);
    },
    [](const Values&, const PlannedLayout&) { return Needs{}; },
    [](const Values& values, const WorkloadContext& context) {
      return std::make_unique<DistributedSolve>(DistributedSolveParameters::from(values), context);
    },
    nullptr,
    false,
}};

}  // namespace
}  // namespace ullage
