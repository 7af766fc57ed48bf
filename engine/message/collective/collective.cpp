// SPDX-License-Identifier: Apache-2.0
// Workload `collective`: how long a collective operation of MPI takes, and how much of it hides behind computation.
#include "message/collective/phase.hpp"

namespace ullage {
namespace {

class CollectiveWorkload final : public Workload {
 public:
  CollectiveWorkload(const CollectiveParameters& parameters, const MessageContext& context)
      : parameters_(parameters), context_(context) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override {
    return std::make_unique<CollectivePhase>(parameters_, context_);
  }

 private:
  CollectiveParameters parameters_;
  MessageContext context_;
};

const Registered<WorkloadEntry> registered_collective{{
    .description =
        {.name = "collective",
         .doc =
             "one collective operation of MPI, called again and again by all ranks; the nonblocking form also beside "
             "computation",
         .parameters = specs_of(CollectiveParameters::table())},
    .work = MessageWork{.check =
                            [](const Values& values, const PlannedLayout& layout, const std::string& pointer) {
                              return check_collective(CollectiveParameters::from(values), layout.ranks, pointer);
                            },
                        .make =
                            [](const Values& values, const MessageContext& context) {
                              return std::make_unique<CollectiveWorkload>(CollectiveParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
