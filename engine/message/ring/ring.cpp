// SPDX-License-Identifier: Apache-2.0
// Workload `ring`: HPCC's naturally and randomly ordered rings.
#include "message/ring/phase.hpp"

namespace ullage {
namespace {

class Ring final : public Workload {
 public:
  Ring(const RingParameters& parameters, const WorkloadContext& context) : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<RingPhase>(parameters_, context_);
  }

 private:
  RingParameters parameters_;
  WorkloadContext context_;
};

const Registered<WorkloadEntry> registered_ring{{
    {"ring",
     "rings over all ranks, in natural or random order; each rank exchanges with both neighbours",
     specs_of(RingParameters::table()),
     {"no-storage"},
     {}},
    [](const Values& values, const Capabilities&, const PlannedLayout& layout, const std::string& pointer) {
      return check_rings(RingParameters::from(values), layout.ranks, pointer);
    },
    [](const Values&, const PlannedLayout&) { return Needs{}; },
    [](const Values& values, const WorkloadContext& context) {
      return std::make_unique<Ring>(RingParameters::from(values), context);
    },
    nullptr,
    false,
}};

}  // namespace
}  // namespace ullage
