// SPDX-License-Identifier: Apache-2.0
// Workload `find`: a walk of all ranks through the run's folder, or one dataset of it, for the entries GNU find would
// find.
#include <utility>

#include "base/json.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_facts.hpp"
#include "storage/workloads/find/parameters.hpp"
#include "storage/workloads/find/phase.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

class Find final : public Workload {
 public:
  Find(const Values& values, const StorageContext& context)
      : parameters_(FindParameters::from(values)),
        context_(context),
        timestamp_{
            context.dataset_name(), directory_of_dataset(context.dataset_name()), 1, false, false, std::nullopt} {}

  [[nodiscard]] LocalSteps begin() override {
    if (!parameters_.makes_timestamp()) return {};
    return {{"make directory", [this] { return make_directory(); }}};
  }

  [[nodiscard]] std::size_t phases() const override { return parameters_.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    if (parameters_.phases[index] == FindPhaseKind::timestamp)
      return std::make_unique<TimestampPhase>(context_, timestamp_.file_name(0));
    return std::make_unique<FindPhase>(context_, parameters_, timestamp_.file_name(0));
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!parameters_.makes_timestamp()) return {};
    LocalSteps steps;
    if (!context_.dataset.empty()) {
      if (whole) return {{"enter facts", [this] { return enter_dataset(); }}};
      steps.push_back(step_to_remove_facts(context_));
    }
    if (!context_.keep) steps.push_back({"remove", [this] { return remove(); }});
    return steps;
  }

 private:
  [[nodiscard]] Status make_directory() const {
    if (!context_.writes_manifest) return {};
    if (auto status = context_.folder->list_dataset(timestamp_); !status) return status;
    return context_.folder->make_directory(timestamp_.directory);
  }

  [[nodiscard]] Status enter_dataset() const {
    return context_.datasets->enter(context_.dataset, {{"workload", "find"}});
  }

  [[nodiscard]] Status remove() const {
    if (!context_.writes_manifest) return {};
    if (auto status = context_.folder->remove_file(timestamp_.file_name(0)); !status) return status;
    return context_.folder->remove_directory(timestamp_.directory);
  }

  FindParameters parameters_;
  StorageContext context_;
  DatasetEntry timestamp_;
};

/// A timestamp is a file in a directory.
Needs needs_of(const Values& values) {
  return FindParameters::from(values).makes_timestamp() ? file_needs(1, 1) : Needs{};
}

const Registered<WorkloadEntry> registered_find{{
    .description = {.name = "find",
                    .doc = "All ranks walk the run's folder together and count what GNU find would find there.",
                    .parameters = specs_of(FindParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout&,
               const std::string& pointer) { return check_find(FindParameters::from(values), capabilities, pointer); },
        .needs = [](const Values& values, const PlannedLayout&) { return needs_of(values); },
        .make = [](const Values& values,
                   const StorageContext& context) { return std::make_unique<Find>(values, context); },
        .uses_dataset =
            [](const Values& values) {
              const auto parameters = FindParameters::from(values);
              return parameters.newer && !parameters.makes_timestamp();
            },
        .needs_one_folder = [](const Values&) { return true; }},
}};

}  // namespace
}  // namespace ullage
