// SPDX-License-Identifier: Apache-2.0
// Workload `overlap`: how much of the I/O of a computing program is hidden, and what that costs the computation.
#include <memory>
#include <utility>

#include "storage/backend.hpp"
#include "storage/workloads/overlap/parameters.hpp"
#include "storage/workloads/overlap/phase.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

class Overlap final : public Workload {
 public:
  Overlap(const Values& values, const StorageContext& context)
      : parameters_(OverlapParameters::from(values)), context_(context) {
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = context.backend->capabilities();
    state_.dataset.dataset = context.dataset_name();
    state_.dataset.directory = directory_of_dataset(context.dataset_name());
    state_.dataset.files = static_cast<std::uint64_t>(context.world->size());
    state_.dataset.per_process = true;
  }

  [[nodiscard]] LocalSteps begin() override {
    // If a backend wraps another one, the plan could not be checked.
    LocalSteps steps{{"check method", [this] { return check_overlap(parameters_, state_.capabilities, ""); }},
                     {"check alignment", [this] { return check_alignment(); }}};
    if (makes_files())
      append(steps, steps_to_make_tree(context_, state_.dataset));
    else if (state_.capabilities.data)
      steps.push_back({"make directory", [this] { return make_directory(); }});
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return parameters_.read ? 2 : 1; }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<OverlapPhase>(state_, index == 0 ? Direction::write : Direction::read);
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!state_.capabilities.data || (context_.keep && whole)) return {};
    if (makes_files()) return steps_to_remove_tree(context_, state_.dataset);
    return {{"remove own file", [this] { return context_.backend->remove_file(state_.file_name()); }},
            {"remove directory", [this] {
               return context_.writes_manifest ? context_.backend->remove_directory(state_.dataset.directory)
                                               : Status{};
             }}};
  }

 private:
  /// Else a backend holds the data where no manifest can list it, or none at all.
  [[nodiscard]] bool makes_files() const {
    return state_.capabilities.data && state_.capabilities.path && context_.folder != nullptr;
  }
  [[nodiscard]] Status make_directory() const {
    return context_.writes_manifest ? context_.backend->make_directory(state_.dataset.directory) : Status{};
  }

  /// A wrong size is refused, not rounded.
  [[nodiscard]] Status check_alignment() const {
    const std::uint64_t alignment = state_.capabilities.alignment_bytes;
    if (parameters_.transfer_bytes % alignment == 0) return {};
    return fail(environment_error("transfer_bytes", "is " + std::to_string(parameters_.transfer_bytes) +
                                                        ", but direct I/O here needs a multiple of " +
                                                        std::to_string(alignment)));
  }

  OverlapParameters parameters_;
  StorageContext context_;
  OverlapState state_;
};

const Registered<WorkloadEntry> registered_overlap{{
    .description = {.name = "overlap",
                    .doc = "Moves data while the rank computes, by helper threads or by calls that only begin a "
                           "transfer, and measures both alone.",
                    .parameters = specs_of(OverlapParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& /*layout*/,
               const std::string& pointer) {
              return check_overlap(OverlapParameters::from(values), capabilities, pointer);
            },
        .needs = [](const Values& values,
                    const PlannedLayout& layout) { return needs_of_overlap(OverlapParameters::from(values), layout); },
        .make = [](const Values& values,
                   const StorageContext& context) { return std::make_unique<Overlap>(values, context); },
        .uses_dataset = nullptr},
}};

}  // namespace
}  // namespace ullage
