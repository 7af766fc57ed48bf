// SPDX-License-Identifier: Apache-2.0
#include "run/repetition.hpp"

#include <filesystem>
#include <variant>

#include "base/json.hpp"
#include "base/permutation.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "probes/core_use.hpp"
#include "run/launch_records.hpp"
#include "run/phase_result.hpp"
#include "storage/storage_context.hpp"
#include "work/entry.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

/// The key of this repetition's data: what another run, dataset or repetition left cannot be mistaken for it.
std::uint64_t run_key(const Plan& plan, const PlannedCase& planned, int repetition) {
  std::uint64_t key = mix64(plan.seed);
  for (const char c : plan.run_id + (planned.dataset.empty() ? planned.id : planned.dataset))
    key = mix64(key ^ static_cast<unsigned char>(c));
  return mix64(key ^ static_cast<std::uint64_t>(repetition));
}

/// Bound to what its kind of work needs.
Result<std::unique_ptr<Workload>> make_workload(const NamedValues& planned, const StorageContext& bound,
                                                const std::string& tables) {
  const WorkloadEntry& entry = *Registry<WorkloadEntry>::instance().find(planned.name);
  if (const auto* storage = std::get_if<StorageWork>(&entry.work)) return storage->make(planned.values, bound);
  return std::get<WorkWithoutStorage>(entry.work).make(planned.values, {bound.world, bound.run_key, tables});
}

class Repetition final {
 public:
  Repetition(const RunContext& context, const PlannedCase& planned, const Place& place, const Schedule::Next& next,
             const std::vector<const Place*>& spill, const std::string& records)
      : context_(context),
        planned_(planned),
        place_(place),
        spill_(spill),
        next_(next),
        tables_(std::filesystem::absolute(records).string() + "." + planned.id + "." + std::to_string(next.repetition)),
        world_(*context.world) {
    context_.write_back = place.write_back.get();
    report_.outcome.warmup = next.warmup;
  }

  [[nodiscard]] RepetitionReport run(AlignedBuffer& buffer, std::uint64_t key, bool keep) {
    const Watched watched_as_a_whole(*context_.watchdog, "repetition, between its steps");
    context_.meter->sample_by(mix64(key + static_cast<std::uint64_t>(world_.rank())));
    std::vector<std::unique_ptr<Backend>> backends;  // of the case's target, and of those behind it
    std::vector<StorageContext> contexts;
    if (!makes_backends(buffer, key, keep, backends, contexts)) return std::move(report_);
    const Capabilities capabilities = backends.front()->capabilities();
    dax_ = capabilities.memory ? capabilities.dax : place_.dax;
    file_system_ = !capabilities.memory ? place_.space.file_system : capabilities.dax ? "devdax" : "memory";
    StorageContext& bound = contexts.front();
    bound.spill.assign(contexts.begin() + 1, contexts.end());
    const auto made = [&] {
      const Watched watched(*context_.watchdog, "make workload");
      return catch_resource_errors([&] { return make_workload(planned_.workload, bound, tables_); });
    }();
    if (!agreed("make workload", mpi::agree(world_.all(), made ? Status{} : fail(made.error()))))
      return std::move(report_);
    const auto& workload = *made;
    const bool begun = begins(*workload);
    if (begun) phases(*workload);
    const bool whole = report_.outcome.ok && !report_.interrupted;
    ends(*workload, whole, begun);
    return std::move(report_);
  }

 private:
  bool begins(Workload& workload) {
    const Watched whole(*context_.watchdog, "begin");
    return agreed("begin", begin_together(workload, world_.all(), watched("begin")));
  }

  void ends(Workload& workload, bool whole, bool begun) {
    const Watched all(*context_.watchdog, "remove");
    const mpi::Agreement removed = end_together(workload, whole, world_.all(), watched("remove"));
    if (begun) (void)agreed("remove", removed);  // else it would be said again what is in the way
  }

  [[nodiscard]] RunStep watched(const std::string& part) const {
    return [this, part](const LocalStep& step) {
      const Watched watched(*context_.watchdog, part + ": " + step.name, removal_steps());
      return step.run();
    };
  }

  /// Returns those of all targets of the case, from any of which a step may remove files.
  [[nodiscard]] Watchdog::Steps removal_steps() const {
    Watchdog::Steps steps;
    if (place_.folder) steps.push_back(&place_.folder->removal_steps());
    for (const Place* place : spill_)
      if (place->folder) steps.push_back(&place->folder->removal_steps());
    return steps;
  }

  /// False: one of them could not be made, which is in the report.
  [[nodiscard]] bool makes_backends(AlignedBuffer& buffer, std::uint64_t key, bool keep,
                                    std::vector<std::unique_ptr<Backend>>& backends,
                                    std::vector<StorageContext>& contexts) {
    for (std::size_t i = 0; i <= spill_.size(); ++i) {
      const Place& place = i == 0 ? place_ : *spill_[i - 1];
      auto backend = make_backend(place, key);
      if (!agreed("make backend", mpi::agree(world_.all(), backend ? Status{} : fail(backend.error())))) return false;
      backends.push_back(std::move(*backend));
      contexts.push_back(context_at(place, *backends.back(), buffer, key, keep));
      contexts.back().target = i == 0 ? planned_.target : planned_.spill[i - 1];
    }
    return true;
  }

  [[nodiscard]] StorageContext context_at(const Place& place, Backend& backend, AlignedBuffer& buffer,
                                          std::uint64_t key, bool keep) const {
    StorageContext bound;
    bound.world = &world_;
    bound.folder = place.folder.get();
    bound.backend = &backend;
    bound.buffer = &buffer;
    bound.case_id = planned_.id;
    bound.dataset = planned_.dataset;
    bound.datasets = place.datasets.get();
    bound.run_key = key;
    bound.keep = keep;
    bound.part = place.part;
    bound.parts = place.parts;
    bound.writes_manifest = place.writes_manifest;
    bound.room_bytes = place.room_bytes;
    return bound;
  }

  [[nodiscard]] Result<std::unique_ptr<Backend>> make_backend(const Place& place, std::uint64_t key) const {
    const Watched watched(*context_.watchdog, "make backend " + planned_.backend.name);
    const auto make = [&] {
      return Registry<BackendEntry>::instance()
          .find(planned_.backend.name)
          ->make(planned_.backend.values, {&world_, place.folder.get(), key});
    };
    return catch_resource_errors(make);
  }

  /// Outside a phase an error of any rank fails the repetition for all, with an event that names the ranks.
  bool agreed(const std::string& step, const mpi::Agreement& agreement) {
    if (agreement.everywhere) return true;
    const Json failures = gather_failures(world_, agreement.own ? std::nullopt : std::optional(agreement.own.error()));
    report_.outcome.ok = false;
    for (const Json& failure : failures) {
      Json line = event("error", "case-failed", step + ": " + failure_line(failure), "");
      line.update(Json{{"case", planned_.id}, {"rank", failure["rank"]}, {"node", failure["node"]}});
      report_.records.push_back(std::move(line));
    }
    return false;
  }

  [[nodiscard]] Result<std::unique_ptr<PhaseWork>> make_phase(Workload& workload, std::size_t index) const {
    const Watched watched(*context_.watchdog, "make phase");
    return catch_resource_errors([&] -> Result<std::unique_ptr<PhaseWork>> { return workload.phase(index); });
  }

  void phases(Workload& workload) {
    for (std::size_t i = 0; i < workload.phases() && report_.outcome.ok && !report_.interrupted; ++i) {
      const auto made = make_phase(workload, i);
      if (!agreed("make phase", mpi::agree(world_.all(), made ? Status{} : fail(made.error())))) return;
      const auto& work = *made;
      if (next_.repetition == planned_.first_repetition) notices(work->info());
      Json record;
      const PhaseOutcome outcome = run_phase(context_, place_.folder.get(), *work, record);
      record.update(Json{{"case", planned_.id},
                         {"repetition", next_.repetition},
                         {"warmup", next_.warmup},
                         {"file_system", file_system_},
                         {"dax", dax_}});
      report_.outcome.ok = outcome.status == PhaseStatus::ok;
      report_.interrupted = outcome.status == PhaseStatus::interrupted;
      report_.outcome.grade = worse_grade(report_.outcome.grade, outcome.grade);
      report_.outcome.phases[record["phase"]].push_back(outcome.elapsed_ns);
      report_.records.push_back(std::move(record));
    }
  }

  void notices(const PhaseInfo& info) {
    for (const Notice& notice : info.notices) {
      Json line = event("warning", notice.code, notice.text, notice.advice);
      line["case"] = planned_.id;
      report_.records.push_back(std::move(line));
    }
  }

  RunContext context_;
  const PlannedCase& planned_;
  const Place& place_;
  const std::vector<const Place*>& spill_;
  const Schedule::Next& next_;
  const std::string tables_;
  const mpi::World& world_;
  RepetitionReport report_;
  std::string file_system_;  // of the target, or what the data is instead of its files
  bool dax_ = false;
};

}  // namespace

RepetitionReport run_repetition(const RunContext& context, const Plan& plan, const PlannedCase& planned,
                                const Place& place, const Schedule::Next& next, AlignedBuffer& buffer,
                                const std::vector<const Place*>& spill) {
  return Repetition(context, planned, place, next, spill, plan.records)
      .run(buffer, run_key(plan, planned, next.repetition), plan.keep);
}

}  // namespace ullage
