// SPDX-License-Identifier: Apache-2.0
// Workload `exchange`: one pattern of messages with all its ranks active.
#include "message/exchange/phase.hpp"

namespace ullage {
namespace {

class Exchange final : public Workload {
 public:
  Exchange(const ExchangeParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<ExchangePhase>(parameters_, context_);
  }

 private:
  ExchangeParameters parameters_;
  WorkloadContext context_;
};

const Registered<WorkloadEntry> registered_exchange{{
    {"exchange",
     "the messages of one pattern (bisections, rings, halos, incast, your own) with all its ranks active",
     specs_of(ExchangeParameters::table()),
     {"no-storage"},
     {}},
    [](const Values& values, const Capabilities&, const PlannedLayout& layout, const std::string& pointer) {
      return check_exchange(ExchangeParameters::from(values), layout.ranks, pointer);
    },
    [](const Values&, const PlannedLayout&) { return Needs{}; },
    [](const Values& values, const WorkloadContext& context) {
      return std::make_unique<Exchange>(ExchangeParameters::from(values), context);
    },
    nullptr,
    false,
}};

}  // namespace
}  // namespace ullage
