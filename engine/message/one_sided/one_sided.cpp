// SPDX-License-Identifier: Apache-2.0
// Workload `one-sided`: put, get and accumulate of MPI, by latency or bandwidth.
#include "message/one_sided/phase.hpp"

namespace ullage {
namespace {

class OneSidedWorkload final : public Workload {
 public:
  OneSidedWorkload(const OneSidedParameters& parameters, const MessageContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<OneSidedPhase>(parameters_, context_);
  }

 private:
  OneSidedParameters parameters_;
  MessageContext context_;
};

const Registered<WorkloadEntry> registered_one_sided{{
    .description = {.name = "one-sided",
                    .doc = "ranks that put to, get from or add to the memory of others by MPI's one-sided operations",
                    .parameters = specs_of(OneSidedParameters::table())},
    .work = MessageWork{.check =
                            [](const Values& values, const PlannedLayout& layout, const std::string& pointer) {
                              return check_one_sided(OneSidedParameters::from(values), layout.ranks, pointer);
                            },
                        .make =
                            [](const Values& values, const MessageContext& context) {
                              return std::make_unique<OneSidedWorkload>(OneSidedParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
