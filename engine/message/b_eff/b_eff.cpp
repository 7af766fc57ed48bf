// SPDX-License-Identifier: Apache-2.0
// Workload `b-eff`: the effective bandwidth of all ranks, over patterns, message lengths and ways to send.
#include "message/b_eff/phase.hpp"

namespace ullage {
namespace {

class BEff final : public Workload {
 public:
  BEff(const BEffParameters& parameters, const MessageContext& context) : run_(parameters, context) {}

  void find_peers() override { run_.find_peers(); }
  [[nodiscard]] LocalSteps begin() override {
    return {{"look for room", [this] { return run_.look_for_room(); }}, {"make messages", [this]() -> Status {
                                                                           run_.make_messages();
                                                                           return {};
                                                                         }}};
  }
  [[nodiscard]] std::size_t phases() const override { return b_eff_size_count; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<BEffPhase>(run_, index);
  }

 private:
  BEffRun run_;
};

const Registered<WorkloadEntry> registered_b_eff{{
    .description =
        {.name = "b-eff",
         .doc = "messages of 21 lengths in rings, random rings, bisections and halos, by three ways of calling MPI",
         .parameters = specs_of(BEffParameters::table())},
    .work = MessageWork{.check = [](const Values&, const PlannedLayout& layout, const std::string& pointer) -> Status {
                          if (layout.ranks < 2)
                            return fail(bad_plan(pointer, "b-eff needs two ranks or more: one has nobody to send to"));
                          return {};
                        },
                        .make =
                            [](const Values& values, const MessageContext& context) {
                              return std::make_unique<BEff>(BEffParameters::from(values), context);
                            }},
}};

}  // namespace
}  // namespace ullage
