// SPDX-License-Identifier: Apache-2.0
// Workload `b-eff`: the effective bandwidth of all ranks, over patterns, message lengths and ways to send.
#include "message/b_eff/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

class BEff final : public Workload {
 public:
  BEff(const BEffParameters& parameters, const WorkloadContext& context) : run_(parameters, context) {}

  void find_peers() override { run_.find_peers(); }
  [[nodiscard]] LocalSteps begin() override {
    return {{"check the free memory", [this] { return run_.look_for_room(); }}, {"make messages", [this] -> Status {
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

Status check_b_eff(const BEffParameters&, int ranks, const std::string& pointer) {
  if (ranks < 2) return fail(bad_plan(pointer, "b-eff needs two ranks or more"));
  return {};
}

const Registered<WorkloadEntry> registered_b_eff{without_storage<BEffParameters, MessageWork>({
    .name = "b-eff",
    .doc = "Sends messages of 21 lengths in rings, random rings, bisections and halos, by three methods of calling "
           "MPI.",
    .check = check_b_eff,
    .make = workload_of<BEff>,
})};

}  // namespace
}  // namespace ullage
