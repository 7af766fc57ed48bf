// SPDX-License-Identifier: Apache-2.0
// Workload `exchange`: one pattern of messages with all its ranks active.
#include "message/exchange/phase.hpp"

namespace ullage {
namespace {

class Exchange final : public Workload {
 public:
  Exchange(const ExchangeParameters& parameters, const MessageContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<ExchangePhase>(parameters_, context_);
  }

 private:
  ExchangeParameters parameters_;
  MessageContext context_;
};

const Registered<WorkloadEntry> registered_exchange{{
    .description =
        {.name = "exchange",
         .doc = "the messages of one pattern (bisections, rings, halos, incast, your own) with all its ranks active",
         .parameters = specs_of(ExchangeParameters::table())},
    .work = MessageWork{.check =
                            [](const Values& values, const PlannedLayout& layout, const std::string& pointer) {
                              return check_exchange(ExchangeParameters::from(values), layout.ranks, pointer);
                            },
                        .make =
                            [](const Values& values, const MessageContext& context) {
                              return std::make_unique<Exchange>(ExchangeParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
