// SPDX-License-Identifier: Apache-2.0
// Workload `sockets`: TCP and UDP between ranks.
#include "message/sockets/sockets_phase.hpp"

namespace ullage {
namespace {

class Sockets final : public Workload {
 public:
  Sockets(const SocketsParameters& parameters, const MessageContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<SocketsPhase>(parameters_, context_);
  }

 private:
  SocketsParameters parameters_;
  MessageContext context_;
};

const Registered<WorkloadEntry> registered_sockets{{
    .description = {.name = "sockets",
                    .doc = "streams, requests and echoes by TCP, UDP and ICMP between pairs of ranks: of the same "
                           "place on two nodes, or "
                           "neighbours on one",
                    .parameters = specs_of(SocketsParameters::table())},
    .work = MessageWork{.check =
                            [](const Values& values, const PlannedLayout& layout, const std::string& pointer) {
                              return check_sockets(SocketsParameters::from(values), layout.ranks, pointer);
                            },
                        .make =
                            [](const Values& values, const MessageContext& context) {
                              return std::make_unique<Sockets>(SocketsParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
