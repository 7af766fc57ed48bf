// SPDX-License-Identifier: Apache-2.0
// Workload `flash`: the checkpoint and plot files of an astrophysical code with adaptive blocks, and the restart.
#include <memory>

#include "storage/backend.hpp"
#include "storage/workloads/flash/parameters.hpp"
#include "storage/workloads/flash/phase.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

class Flash final : public Workload {
 public:
  Flash(const Values& values, const StorageContext& context)
      : parameters_(FlashParameters::from(values)), context_(context) {
    const auto rank = static_cast<std::uint64_t>(context.world->rank());
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = context.backend->capabilities();
    state_.dataset.dataset = context.dataset_name();
    state_.dataset.directory = directory_of_dataset(context.dataset_name());
    state_.dataset.files = 1;
    state_.dataset.side_files = true;
    state_.layout = parameters_.layout(static_cast<std::uint64_t>(context.world->size()));
    state_.arrays = state_.layout.arrays();
    state_.first_block = flash_blocks_before(parameters_.blocks, rank);
    state_.blocks = flash_blocks(parameters_.blocks, rank);
  }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check format", [this] { return check_format(); }}};
    if (makes_files()) append(steps, steps_to_make_tree(context_, state_.dataset));
    return steps;
  }
  [[nodiscard]] std::size_t phases() const override { return parameters_.restart ? 2 : 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<FlashPhase>(state_, index == 0 ? Direction::write : Direction::read);
  }
  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!makes_files() || (context_.keep && whole)) return {};
    return steps_to_remove_tree(context_, state_.dataset);
  }

 private:
  /// Names in memory, on a target without a path, need neither directories nor a manifest.
  [[nodiscard]] bool makes_files() const { return context_.folder != nullptr && context_.backend->names() != nullptr; }

  /// What a backend's files hold is known of the backend itself, also of one that is wrapped.
  [[nodiscard]] Status check_format() const {
    const bool has_arrays = context_.backend->arrays() != nullptr;
    if (has_arrays == (parameters_.format == FlashFormat::arrays)) return {};
    return fail(environment_error(
        "format", has_arrays ? "must be arrays: this backend's files hold arrays" : "must be raw: it has no arrays"));
  }

  FlashParameters parameters_;
  StorageContext context_;
  FlashState state_;
};

const Registered<WorkloadEntry> registered_flash{{
    .description = {.name = "flash",
                    .doc = "Writes the checkpoint or a plot file of a code with adaptive blocks (FLASH), and reads it "
                           "again.",
                    .parameters = specs_of(FlashParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& layout,
               const std::string& pointer) {
              return check_flash_parameters(FlashParameters::from(values), capabilities, layout, pointer);
            },
        .needs = [](const Values& values,
                    const PlannedLayout& layout) { return needs_of_flash(FlashParameters::from(values), layout); },
        .make = [](const Values& values,
                   const StorageContext& context) { return std::make_unique<Flash>(values, context); },
        .uses_dataset = nullptr,
        .needs_one_folder = [](const Values&) { return true; }},
}};

}  // namespace
}  // namespace ullage
