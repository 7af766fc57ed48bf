// SPDX-License-Identifier: Apache-2.0
// Workload `stepfile`: a simulation that keeps its state at every step, and an adjoint that needs the states again,
// mostly in reverse.
#include <memory>
#include <optional>
#include <utility>

#include "storage/backend.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/stepfile/adjoint.hpp"
#include "storage/workloads/stepfile/forward.hpp"
#include "storage/workloads/stepfile/parameters.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

class Stepfile final : public Workload {
 public:
  Stepfile(const Values& values, const StorageContext& context)
      : parameters_(StepfileParameters::from(values)), context_(context) {
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = context.backend->capabilities();
    state_.dataset.dataset = context.dataset_name();
    state_.dataset.directory = directory_of_dataset(context.dataset_name());
    state_.dataset.steps = parameters_.shape(static_cast<std::uint64_t>(context.world->size()));
    tiers_.emplace(context_, parameters_.kept(), parameters_.state_bytes);
    state_.tiers = &*tiers_;
    state_.turnaround = &turnaround_;
    if (parameters_.revolves()) revolve_.emplace(parameters_.steps, parameters_.kept());
  }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check alignment", [this] { return check_alignment(); }},
                     {"check room", [this] { return tiers_->check_room(); }}};
    for (std::size_t tier = 0; makes_files() && tier < tiers_->size(); ++tier)
      append(steps, steps_at(tiers_->at(tier)));
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return 2; }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    RevolveState* const revolve = revolve_ ? &*revolve_ : nullptr;
    if (index == 0) return std::make_unique<ForwardPhase>(state_, revolve);
    return std::make_unique<AdjointPhase>(state_, revolve);
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!makes_files() || (context_.keep && whole)) return {};
    LocalSteps steps;
    for (std::size_t tier = 0; tier < tiers_->size(); ++tier)
      append(steps, steps_to_remove_tree(tiers_->at(tier), state_.dataset));
    return steps;
  }

 private:
  /// Names in memory, on a target without a path, need neither directories nor a manifest.
  [[nodiscard]] bool makes_files() const { return context_.folder != nullptr && context_.backend->names() != nullptr; }

  [[nodiscard]] LocalSteps steps_at(const StorageContext& where) const {
    LocalSteps steps = steps_to_make_tree(where, state_.dataset);
    std::uint64_t first = 0;
    for (const std::uint64_t end : state_.shape().directory_ends()) {
      steps.push_back({"make directories", [this, &where, first, end] { return make_directories(where, first, end); }});
      first = end;
    }
    return steps;
  }

  /// A wrong size is refused, not rounded.
  [[nodiscard]] Status check_alignment() const {
    for (std::size_t tier = 0; tier < tiers_->size(); ++tier)
      if (auto status = check_alignment(tiers_->at(tier).backend->capabilities()); !status) return status;
    return {};
  }

  [[nodiscard]] Status check_alignment(const Capabilities& capabilities) const {
    const std::uint64_t alignment = capabilities.alignment_bytes;
    if (parameters_.state_bytes % alignment == 0) return {};
    return fail(environment_error("state_bytes", "is " + std::to_string(parameters_.state_bytes) +
                                                     ", but direct I/O here needs a multiple of " +
                                                     std::to_string(alignment)));
  }

  /// A rank makes its own directory; others are dealt out to the ranks that share the folder.
  [[nodiscard]] Status make_directories(const StorageContext& where, std::uint64_t first, std::uint64_t end) const {
    const bool own = parameters_.layout == StepLayout::dir_per_rank;
    const std::uint64_t parts = own ? end : static_cast<std::uint64_t>(where.parts);
    const auto part = own ? state_.rank() : static_cast<std::uint64_t>(where.part);
    for (std::uint64_t index = first + part; index < end; index += parts) {
      const std::string name = state_.dataset.directory + "/" + state_.shape().directory_path(index);
      if (auto status = where.backend->make_directory(name); !status) return status;
    }
    return {};
  }

  StepfileParameters parameters_;
  StorageContext context_;
  StepfileState state_;
  std::optional<StepTiers> tiers_;
  Turnaround turnaround_;
  std::optional<RevolveState> revolve_;
};

const Registered<WorkloadEntry> registered_stepfile{{
    .description = {.name = "stepfile",
                    .doc = "Keeps the state of a simulation at every step and reads the states again for its adjoint, "
                           "with computation in between.",
                    .parameters = specs_of(StepfileParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& /*layout*/,
               const std::string& pointer) {
              return check_stepfile(StepfileParameters::from(values), capabilities, pointer);
            },
        .needs =
            [](const Values& values, const PlannedLayout& layout) {
              return needs_of_stepfile(StepfileParameters::from(values), layout);
            },
        .make = [](const Values& values,
                   const StorageContext& context) { return std::make_unique<Stepfile>(values, context); },
        .uses_dataset = nullptr,
        .check_spill =
            [](const Values& values, const std::string& pointer) {
              if (!StepfileParameters::from(values).in_log()) return Status{};
              return Status{fail(bad_plan(pointer + "/spill", "must be empty: with layout log a rank has one file"))};
            }},
}};

}  // namespace
}  // namespace ullage
