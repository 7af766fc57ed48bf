// SPDX-License-Identifier: Apache-2.0
// Workload `collective`: how long a collective operation of MPI takes, and how much of it hides behind computation.
#include "message/collective/phase.hpp"

namespace ullage {
namespace {

class CollectiveWorkload final : public Workload {
 public:
  CollectiveWorkload(const CollectiveParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<CollectivePhase>(parameters_, context_);
  }

 private:
  CollectiveParameters parameters_;
  WorkloadContext context_;
};

const Registered<WorkloadEntry> registered_collective{{
    {"collective",
     "one collective operation of MPI, called again and again by all ranks; the nonblocking form also beside "
     "computation",
     specs_of(CollectiveParameters::table()),
     {"no-storage"},
     {}},
    [](const Values& values, const Capabilities&, const PlannedLayout& layout, const std::string& pointer) {
      return check_collective(CollectiveParameters::from(values), layout.ranks, pointer);
    },
    [](const Values&, const PlannedLayout&) { return Needs{}; },
    [](const Values& values, const WorkloadContext& context) {
      return std::make_unique<CollectiveWorkload>(CollectiveParameters::from(values), context);
    },
    nullptr,
    false,
}};

}  // namespace
}  // namespace ullage
