// SPDX-License-Identifier: Apache-2.0
// Workload `b-eff-io`: the effective I/O bandwidth of all ranks, over patterns of access and sizes of chunks.
#include "storage/backend.hpp"
#include "storage/workloads/b_eff_io/phase.hpp"

namespace ullage {
namespace {

class BEffIo final : public Workload {
 public:
  BEffIo(const BEffIoParameters& parameters, const StorageContext& context) : run_(parameters, context) {}

  [[nodiscard]] LocalSteps begin() override { return run_.begin(); }
  [[nodiscard]] std::size_t phases() const override { return run_.tasks().size(); }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<BEffIoPhase>(run_, index);
  }
  [[nodiscard]] LocalSteps end(bool whole) override { return run_.end(whole); }

 private:
  BEffIoRun run_;
};

const Registered<WorkloadEntry> registered_b_eff_io{{
    .description = {.name = "b-eff-io",
                    .doc = "Runs all patterns of one type of b_eff_io with one access. The first write lasts a "
                           "scheduled time; later accesses repeat it as often.",
                    .parameters = specs_of(BEffIoParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout&,
               const std::string& pointer) {
              return check_b_eff_io(BEffIoParameters::from(values), capabilities, pointer);
            },
        .needs = [](const Values& values,
                    const PlannedLayout& layout) { return needs_of_b_eff_io(BEffIoParameters::from(values), layout); },
        .make =
            [](const Values& values, const StorageContext& context) {
              return std::make_unique<BEffIo>(BEffIoParameters::from(values), context);
            },
        .uses_dataset =
            [](const Values& values) { return BEffIoParameters::from(values).access != BEffIoAccess::write; },
        .needs_one_folder =
            [](const Values& values) { return BEffIoParameters::from(values).type != BEffIoType::separated; }},
}};

}  // namespace
}  // namespace ullage
