// SPDX-License-Identifier: Apache-2.0
// Workload `mixed-metadata`: sets of small files that turn over while they are looked at and read, as in md-workbench.
#include <utility>

#include "base/json.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_facts.hpp"
#include "storage/workloads/metadata/mixed_parameters.hpp"
#include "storage/workloads/metadata/mixed_phase.hpp"
#include "storage/workloads/metadata/tree_workload.hpp"

namespace ullage {
namespace {

class MixedMetadata final : public TreeWorkload {
 public:
  MixedMetadata(const Values& values, const StorageContext& context)
      : TreeWorkload(context), parameters_(MixedMetadataParameters::from(values)) {
    state_.parameters = &parameters_;
    state_.context = &bound();
    state_.tree = parameters_.tree(static_cast<std::uint64_t>(context.world->size()));
    state_.dataset = {
        context.dataset_name(), directory_of_dataset(context.dataset_name()), 0, false, false, state_.tree};
    state_.data_key = context.run_key;
  }

  [[nodiscard]] std::size_t phases() const override { return parameters_.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<MixedMetadataPhase>(state_, parameters_.phases[index]);
  }

 private:
  [[nodiscard]] const DatasetEntry& dataset() const override { return state_.dataset; }
  [[nodiscard]] bool makes_dataset() const override { return parameters_.makes_dataset(); }
  /// The directories of sets that were emptied are removed at the end.
  [[nodiscard]] bool is_whole() const override { return state_.has_sets; }

  /// Returns what every case that works on these sets must have in common.
  [[nodiscard]] Json layout() const {
    return {{"ranks", state_.tree.ranks},
            {"sets", parameters_.sets},
            {"objects", parameters_.objects},
            {"object_bytes", parameters_.object_bytes}};
  }

  [[nodiscard]] Status find_dataset() override {
    const auto facts = facts_of_dataset(bound(), layout());
    if (!facts) return fail(facts.error());
    state_.data_key = (*facts)["key"];
    state_.first = (*facts)["first"];
    state_.benches = (*facts)["benches"];
    state_.has_sets = true;
    return {};
  }

  [[nodiscard]] Status enter_dataset() const override {
    return bound().datasets->enter(bound().dataset, {{"workload", "mixed-metadata"},
                                                     {"layout", layout()},
                                                     {"key", state_.data_key},
                                                     {"first", state_.first},
                                                     {"next", state_.first + parameters_.objects},
                                                     {"benches", state_.benches}});
  }

  MixedMetadataParameters parameters_;
  MixedMetadataState state_;
};

/// In a visit creates may come before deletes.
Needs mixed_needs_of(const Values& values, const PlannedLayout& layout) {
  const auto parameters = MixedMetadataParameters::from(values);
  const Count ranks = static_cast<std::uint64_t>(layout.ranks);
  const Count sets = parameters.sets;
  return file_needs((sets * parameters.objects + parameters.create_share) * ranks, parameters.object_bytes,
                    (sets + 1) * ranks);
}

const Registered<WorkloadEntry> registered_mixed_metadata{{
    .description = {.name = "mixed-metadata",
                    .doc = "Stats, reads, deletes and creates small files in weighted shares, in sets whose files are "
                           "replaced over time, as md-workbench does.",
                    .parameters = specs_of(MixedMetadataParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& /*layout*/,
               const std::string& pointer) {
              return check_mixed_metadata(MixedMetadataParameters::from(values), capabilities, pointer);
            },
        .needs = mixed_needs_of,
        .make = [](const Values& values,
                   const StorageContext& context) { return std::make_unique<MixedMetadata>(values, context); },
        .uses_dataset = [](const Values& values) { return !MixedMetadataParameters::from(values).makes_dataset(); },
        .needs_one_folder = [](const Values& values) { return MixedMetadataParameters::from(values).stride != 0; }},
}};

}  // namespace
}  // namespace ullage
