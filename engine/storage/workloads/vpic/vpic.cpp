// SPDX-License-Identifier: Apache-2.0
// Workload `vpic`: the particles of a plasma code, a file of all its time steps, and the reading side of an analysis.
#include <memory>

#include "storage/backend.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/vpic/parameters.hpp"
#include "storage/workloads/vpic/phase.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

constexpr int next_one = 1;  // a node, or a rank, further

class Vpic final : public Workload {
 public:
  Vpic(const Values& values, const StorageContext& context) {
    state_.parameters = VpicParameters::from(values);
    state_.context = context;
    state_.capabilities = context.backend->capabilities();
    state_.layout = state_.parameters.layout(static_cast<std::uint64_t>(context.world->size()));
    state_.dataset.dataset = context.dataset_name();
    state_.dataset.directory = directory_of_dataset(context.dataset_name());
    state_.dataset.files = 1;
    state_.dataset.side_files = true;
  }

  void find_peers() override {
    state_.source = find_data_source(*state_.context.world, state_.parameters.read_back, next_one);
  }
  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check format", [this] { return check_format(); }}};
    if (makes_files()) append(steps, steps_to_make_tree(state_.context, state_.dataset));
    return steps;
  }
  [[nodiscard]] std::size_t phases() const override { return state_.parameters.phases.size(); }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<VpicPhase>(state_, state_.parameters.phases[index]);
  }
  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!makes_files() || (state_.context.keep && whole)) return {};
    return steps_to_remove_tree(state_.context, state_.dataset);
  }

 private:
  /// Names in memory, on a target without a path, need neither directories nor a manifest.
  [[nodiscard]] bool makes_files() const {
    return state_.context.folder != nullptr && state_.context.backend->names() != nullptr;
  }

  /// What a backend's files hold, and whether it converts, is known of the backend itself, also of one that is wrapped.
  [[nodiscard]] Status check_format() const {
    const bool has_arrays = state_.context.backend->arrays() != nullptr;
    if (has_arrays != (state_.parameters.format == VpicFormat::arrays))
      return fail(environment_error(
          "format", has_arrays ? "must be arrays: this backend's files hold arrays" : "must be raw: it has no arrays"));
    if (has_arrays || !state_.layout.converts() || state_.capabilities.scattered) return {};
    return fail(environment_error("memory", "must be as the file: this backend does not convert"));
  }

  VpicState state_;
};

const Registered<WorkloadEntry> registered_vpic{{
    .description = {.name = "vpic",
                    .doc = "Writes the particles of a plasma code (VPIC), step after step with a computation in "
                           "between, and reads them again as an analysis does (BD-CATS).",
                    .parameters = specs_of(VpicParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& layout,
               const std::string& pointer) {
              return check_vpic(VpicParameters::from(values), capabilities, layout, pointer);
            },
        .needs = [](const Values& values,
                    const PlannedLayout& layout) { return needs_of_vpic(VpicParameters::from(values), layout); },
        .make = [](const Values& values,
                   const StorageContext& context) { return std::make_unique<Vpic>(values, context); },
        .uses_dataset = nullptr,
        .needs_one_folder = [](const Values&) { return true; }},
}};

}  // namespace
}  // namespace ullage
