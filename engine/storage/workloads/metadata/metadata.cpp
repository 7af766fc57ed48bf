// SPDX-License-Identifier: Apache-2.0
// Workload `metadata`: small files and directories in mdtest's model of a tree and items.
#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_facts.hpp"
#include "storage/workloads/metadata/parameters.hpp"
#include "storage/workloads/metadata/phase.hpp"
#include "storage/workloads/metadata/tree_workload.hpp"

namespace ullage {
namespace {

class MetadataWorkload final : public TreeWorkload {
 public:
  MetadataWorkload(const Values& values, const StorageContext& context)
      : TreeWorkload(context), parameters_(MetadataParameters::from(values)) {
    state_.parameters = &parameters_;
    state_.context = &bound();
    state_.shape = parameters_.shape(static_cast<std::uint64_t>(context.world->size()));
    state_.dataset = {
        context.dataset_name(), directory_of_dataset(context.dataset_name()), 0, false, false, state_.shape};
    state_.data_key = context.run_key;
  }

  void find_peers() override { find_sources(state_); }

  [[nodiscard]] std::size_t phases() const override { return parameters_.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<MetadataPhase>(state_, parameters_.phases[index]);
  }

 private:
  [[nodiscard]] const DatasetEntry& dataset() const override { return state_.dataset; }
  [[nodiscard]] bool makes_dataset() const override { return parameters_.makes_dataset(); }
  [[nodiscard]] bool changes_dataset() const override { return std::ranges::any_of(parameters_.phases, changes_names); }
  [[nodiscard]] bool is_whole() const override { return state_.has_tree && !state_.partly_removed; }

  /// Returns what every case that works on this tree must have in common.
  [[nodiscard]] Json layout() const {
    Json layout = to_json(state_.shape);
    layout["write_bytes"] = parameters_.write_bytes;
    return layout;
  }

  [[nodiscard]] Status find_dataset() override {
    const auto facts = facts_of_dataset(bound(), layout());
    if (!facts) return fail(facts.error());
    state_.data_key = (*facts)["key"];
    state_.items = (*facts)["items"];
    state_.renamed = (*facts)["renamed"];
    state_.has_tree = true;
    return {};
  }

  [[nodiscard]] Status enter_dataset() const override {
    return bound().datasets->enter(bound().dataset, {{"workload", "metadata"},
                                                     {"layout", layout()},
                                                     {"key", state_.data_key},
                                                     {"items", state_.items},
                                                     {"renamed", state_.renamed}});
  }

  MetadataParameters parameters_;
  MetadataState state_;
};

Needs needs_of(const Values& values, const PlannedLayout& layout) {
  const auto parameters = MetadataParameters::from(values);
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  const TreeShape shape = parameters.shape(ranks);
  return file_needs(Count(parameters.items) * ranks, parameters.write_bytes,
                    Count(shape.directory_count()) * shape.trees());
}

const Registered<WorkloadEntry> registered_metadata{{
    .description =
        {.name = "metadata",
         .doc = "Makes, inspects and removes small files and directories, in mdtest's model of a tree and items.",
         .parameters = specs_of(MetadataParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& layout,
               const std::string& pointer) {
              return check_metadata(MetadataParameters::from(values), capabilities, layout, pointer);
            },
        .needs = needs_of,
        .make = [](const Values& values,
                   const StorageContext& context) { return std::make_unique<MetadataWorkload>(values, context); },
        .uses_dataset = [](const Values& values) { return !MetadataParameters::from(values).makes_dataset(); },
        .needs_one_folder =
            [](const Values& values) {
              const auto parameters = MetadataParameters::from(values);
              return !parameters.unique_directory || parameters.stride != 0;
            }},
}};

}  // namespace
}  // namespace ullage
