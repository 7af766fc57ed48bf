// SPDX-License-Identifier: Apache-2.0
// Workload `find`: a walk of all ranks through the run's folder, or one dataset of it, for the entries GNU find would
// find.
#include "storage/workloads/find/find.hpp"

#include "storage/workloads/shared_dataset.hpp"

namespace ullage {
namespace {

constexpr std::size_t longest_dataset_name = 64;

// A function, since the table is asked for while other files' statics are still being made.
Words<FindPhaseKind> phase_words() { return {{FindPhaseKind::timestamp, "timestamp"}, {FindPhaseKind::find, "find"}}; }

bool is_dataset_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_dataset_name && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

Status check_phases(const FindParameters& p, const std::string& pointer) {
  const bool once = p.phases.size() == 1 || (p.phases.size() == 2 && p.makes_timestamp() && p.finds());
  if (!once) return fail(bad_plan(pointer + "/phases", "must be timestamp, find, or both in this order"));
  if (p.finds()) return {};
  const FindParameters initial;
  for (const auto& [parameter, given] :
       {std::pair("/within", p.within != initial.within), std::pair("/name", p.name != initial.name),
        std::pair("/newer", p.newer != initial.newer), std::pair("/size", p.size != initial.size)})
    if (given) return fail(bad_plan(pointer + parameter, "needs phase find"));
  return {};
}

class Find final : public Workload {
 public:
  Find(const FindParameters& parameters, const StorageContext& context)
      : parameters_(parameters),
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

const Registered<WorkloadEntry> registered_find{on_storage<FindParameters>({
    .name = "find",
    .doc = "All ranks walk the run's folder together and count what GNU find would find there.",
    .check = on_any_layout(check_find),
    // A timestamp is a file in a directory.
    .needs = [](const FindParameters& p,
                const PlannedLayout&) { return p.makes_timestamp() ? file_needs(1, 1) : Needs{}; },
    .make = workload_of<Find>,
    .uses_dataset = [](const FindParameters& p) { return p.newer && !p.makes_timestamp(); },
    .needs_one_folder = always,
})};

}  // namespace

Table<FindParameters> FindParameters::table() {
  using P = FindParameters;
  return {
      choices("phases", &P::phases, phase_words(),
              "Choose the phases: timestamp makes the file that newer compares with; find walks the folder, all ranks "
              "together."),
      text("within", &P::within, "Search this dataset of the target; empty means everything in the run's folder."),
      text("name", &P::name,
           "Find the entries whose whole base name matches this shell pattern, as find's -name does; empty means any "
           "name."),
      flag("newer", &P::newer,
           "Find only entries modified later, to the nanosecond, than the file that phase timestamp of the case made."),
      text("size", &P::size,
           "Find only entries of this size: [+-]N[cwbkMG] as find's -size, in units rounded up; empty means any size."),
  };
}

Status check_find(const FindParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  if (!capabilities.path || !capabilities.data)
    return fail(bad_plan(pointer + "/phases", "need a backend that holds files in directories, such as posix"));
  if (auto status = check_phases(p, pointer); !status) return status;
  if (!p.within.empty() && !is_dataset_name(p.within))
    return fail(bad_plan(pointer + "/within", "is '" + p.within + "', must be the name of a dataset"));
  if (p.name.find('\0') != std::string::npos) return fail(bad_plan(pointer + "/name", "must not hold a NUL byte"));
  if (p.size.empty()) return {};
  const auto size = SizeTest::parse(p.size, pointer + "/size");
  return size ? Status{} : fail(size.error());
}

}  // namespace ullage
