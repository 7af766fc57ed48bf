// SPDX-License-Identifier: Apache-2.0
#include "work/workload.hpp"

#include "base/resources.hpp"

namespace ullage {
namespace {

/// Ranks may have steps of different number: one that has no more goes along with the others.
std::size_t most_steps(const LocalSteps& steps, const mpi::Comm& everyone) {
  return static_cast<std::size_t>(everyone.max(static_cast<std::int64_t>(steps.size())));
}

Status run_step(const LocalSteps& steps, std::size_t index, const RunStep& run) {
  return index < steps.size() ? catch_resource_errors([&] { return run(steps[index]); }) : Status{};
}

}  // namespace

Status just_run(const LocalStep& step) { return step.run(); }

mpi::Agreement begin_together(Workload& workload, const mpi::Comm& everyone, const RunStep& run) {
  mpi::Agreement agreement = mpi::agree(everyone, catch_resource_errors([&] -> Status {
                                          workload.find_peers();
                                          return {};
                                        }));
  if (!agreement.everywhere) return agreement;
  const LocalSteps steps = workload.begin();
  const std::size_t most = most_steps(steps, everyone);
  for (std::size_t i = 0; i < most && agreement.everywhere; ++i)
    agreement = mpi::agree(everyone, run_step(steps, i, run));
  return agreement;
}

mpi::Agreement end_together(Workload& workload, bool whole, const mpi::Comm& everyone, const RunStep& run) {
  const LocalSteps steps = workload.end(whole);
  const std::size_t most = most_steps(steps, everyone);
  Status first;
  for (std::size_t i = 0; i < most; ++i) {
    everyone.barrier();
    Status done = run_step(steps, i, run);
    if (first && !done) first = std::move(done);
  }
  return mpi::agree(everyone, std::move(first));
}

Status WorkloadEntry::check(const Values& values, const Capabilities& capabilities, const PlannedLayout& layout,
                            const std::string& pointer) const {
  if (const auto* storage = std::get_if<StorageWork>(&work))
    return storage->check(values, capabilities, layout, pointer);
  const auto& plain = std::get<WorkWithoutStorage>(work);
  return plain.check ? plain.check(values, layout, pointer) : Status{};
}

Needs WorkloadEntry::needs(const Values& values, const PlannedLayout& layout) const {
  const auto* storage = std::get_if<StorageWork>(&work);
  return storage != nullptr && storage->needs ? storage->needs(values, layout) : Needs{};
}

bool WorkloadEntry::uses_dataset(const Values& values) const {
  const auto* storage = std::get_if<StorageWork>(&work);
  return storage != nullptr && storage->uses_dataset && storage->uses_dataset(values);
}

bool WorkloadEntry::needs_one_folder(const Values& values) const {
  const auto* storage = std::get_if<StorageWork>(&work);
  return storage != nullptr && storage->needs_one_folder && storage->needs_one_folder(values);
}

Status WorkloadEntry::check_spill(const Values& values, const std::string& pointer) const {
  const auto* storage = std::get_if<StorageWork>(&work);
  if (storage != nullptr && storage->check_spill) return storage->check_spill(values, pointer);
  return fail(
      bad_plan(pointer + "/spill", "must be empty: workload '" + description.name + "' keeps its data at one target"));
}

template class Registry<WorkloadEntry>;
template struct Registered<WorkloadEntry>;

}  // namespace ullage
