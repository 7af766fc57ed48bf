// SPDX-License-Identifier: Apache-2.0
// Workload `ping-pong`: one-way times between pairs.
#include "message/ping_pong/phase.hpp"

namespace ullage {
namespace {

class PingPong final : public Workload {
 public:
  PingPong(const PingPongParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<PingPongPhase>(parameters_, context_);
  }

 private:
  PingPongParameters parameters_;
  WorkloadContext context_;
};

const Registered<WorkloadEntry> registered_ping_pong{{
    {"ping-pong",
     "messages between pairs of ranks or nodes: all pairs by a tournament, or a sample of them",
     specs_of(PingPongParameters::table()),
     {"no-storage"},
     {}},
    [](const Values& values, const Capabilities&, const PlannedLayout& layout, const std::string& pointer) {
      return check_ping_pong(PingPongParameters::from(values), layout.ranks, pointer);
    },
    [](const Values&, const PlannedLayout&) { return Needs{}; },
    [](const Values& values, const WorkloadContext& context) {
      return std::make_unique<PingPong>(PingPongParameters::from(values), context);
    },
    nullptr,
    false,
}};

}  // namespace
}  // namespace ullage
