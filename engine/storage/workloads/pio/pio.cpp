// SPDX-License-Identifier: Apache-2.0
// Workload `pio`: spatial patterns of parallel programs, and what they do with the bytes one after the other.
#include <utility>

#include "storage/backend.hpp"
#include "storage/workloads/pio/parameters.hpp"
#include "storage/workloads/pio/phase.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

class Pio final : public Workload {
 public:
  Pio(PioParameters parameters, const StorageContext& context) {
    state_.parameters = std::move(parameters);
    state_.context = context;
    state_.capabilities = context.backend->capabilities();
    state_.entry.dataset = context.dataset_name();
    state_.entry.directory = directory_of_dataset(state_.entry.dataset);
    state_.entry.per_process = state_.parameters.per_rank();
    state_.entry.files = state_.entry.per_process ? state_.ranks() : 1;
    state_.entry.side_files = state_.parameters.through == PioThrough::view;
  }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check alignment", [this] { return check_alignment(); }}};
    if (!state_.capabilities.data) return steps;
    if (makes_files())
      append(steps, steps_to_make_tree(state_.context, state_.entry));
    else
      steps.push_back({"make directory", [this] {
                         return state_.context.writes_manifest ? state_.context.backend->make_directory(directory())
                                                               : Status{};
                       }});
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return state_.parameters.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    const PioOperation operation = state_.parameters.phases[index];
    if (operation == PioOperation::write || operation == PioOperation::rewrite) {
      ++state_.generation;
      state_.changes = 0;
    }
    return std::make_unique<PioPhase>(state_, operation);
  }

  [[nodiscard]] LocalSteps end(bool) override {
    if (!state_.capabilities.data || state_.context.keep) return {};
    if (makes_files()) return steps_to_remove_tree(state_.context, state_.entry);
    return {{"remove own files", [this] { return remove_files(); }},
            {"remove directory", [this] {
               return state_.context.writes_manifest ? state_.context.backend->remove_directory(directory()) : Status{};
             }}};
  }

 private:
  [[nodiscard]] const std::string& directory() const { return state_.entry.directory; }
  /// Else a backend holds the data where no manifest can list it.
  [[nodiscard]] bool makes_files() const { return state_.capabilities.path && state_.context.folder != nullptr; }

  [[nodiscard]] Status remove_files() const {
    if (!state_.entry.per_process && !state_.context.writes_manifest) return {};
    return state_.context.backend->remove_file(state_.file_name());
  }

  /// O_DIRECT's alignment is known only now that the target is: a wrong size is refused, not rounded.
  [[nodiscard]] Status check_alignment() const {
    const std::uint64_t alignment = state_.capabilities.alignment_bytes;
    const PioParameters& p = state_.parameters;
    const bool varies = p.kind == PioKind::random_strided && alignment > 8;
    const std::uint64_t piece = p.kind == PioKind::mesh ? p.record_bytes : p.request_bytes;
    if (!varies && piece % alignment == 0 && p.base_bytes % alignment == 0) return {};
    return fail(environment_error(
        varies || piece % alignment != 0 ? "request_bytes" : "base_bytes",
        "direct I/O here needs offsets and lengths that are multiples of " + std::to_string(alignment)));
  }

  PioState state_;
};

const Registered<WorkloadEntry> registered_pio{{
    .description = {.name = "pio",
                    .doc = "Writes and reads the spatial patterns of parallel programs: strides, segments, tiles, "
                           "blocks and meshes.",
                    .parameters = specs_of(PioParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& layout,
               const std::string& pointer) {
              return check_pio(PioParameters::from(values), capabilities, layout, pointer);
            },
        .needs = [](const Values& values,
                    const PlannedLayout& layout) { return needs_of_pio(PioParameters::from(values), layout); },
        .make =
            [](const Values& values, const StorageContext& context) {
              return std::make_unique<Pio>(PioParameters::from(values), context);
            },
        .uses_dataset = nullptr,
        .needs_one_folder = [](const Values& values) { return !PioParameters::from(values).per_rank(); }},
}};

}  // namespace
}  // namespace ullage
