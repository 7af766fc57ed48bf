// SPDX-License-Identifier: Apache-2.0
// Workload `ping-pong`: one-way times between pairs.
#include "message/ping_pong/phase.hpp"

namespace ullage {
namespace {

class PingPong final : public Workload {
 public:
  PingPong(const PingPongParameters& parameters, const MessageContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<PingPongPhase>(parameters_, context_);
  }

 private:
  PingPongParameters parameters_;
  MessageContext context_;
};

const Registered<WorkloadEntry> registered_ping_pong{{
    .description = {.name = "ping-pong",
                    .doc = "messages between pairs of ranks or nodes: all pairs by a tournament, or a sample of them",
                    .parameters = specs_of(PingPongParameters::table())},
    .work = MessageWork{.check =
                            [](const Values& values, const PlannedLayout& layout, const std::string& pointer) {
                              return check_ping_pong(PingPongParameters::from(values), layout.ranks, pointer);
                            },
                        .make =
                            [](const Values& values, const MessageContext& context) {
                              return std::make_unique<PingPong>(PingPongParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
