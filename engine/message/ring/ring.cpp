// SPDX-License-Identifier: Apache-2.0
// Workload `ring`: HPCC's naturally and randomly ordered rings.
#include "message/ring/phase.hpp"

namespace ullage {
namespace {

class Ring final : public Workload {
 public:
  Ring(const RingParameters& parameters, const MessageContext& context) : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<RingPhase>(parameters_, context_);
  }

 private:
  RingParameters parameters_;
  MessageContext context_;
};

const Registered<WorkloadEntry> registered_ring{{
    .description = {.name = "ring",
                    .doc = "rings over all ranks, in natural or random order; each rank exchanges with both neighbours",
                    .parameters = specs_of(RingParameters::table())},
    .work = MessageWork{.check =
                            [](const Values& values, const PlannedLayout& layout, const std::string& pointer) {
                              return check_rings(RingParameters::from(values), layout.ranks, pointer);
                            },
                        .make =
                            [](const Values& values, const MessageContext& context) {
                              return std::make_unique<Ring>(RingParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
