// SPDX-License-Identifier: Apache-2.0
#include "run/places.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/json.hpp"
#include "base/resources.hpp"
#include "mpi/agreement.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

Needs larger(const Needs& a, const Needs& b) { return {std::max(a.bytes, b.bytes), std::max(a.inodes, b.inodes)}; }

/// Named datasets live side by side, each as large as the case that takes most of it; of the others one at a time does,
/// unless they are kept. What is `there` already needs no more room.
Needs needs_at(const Plan& plan, const PlannedTarget& target, const std::map<std::string, Json>& there) {
  Needs total;
  Needs largest;
  std::map<std::string, Needs> named;
  for (const auto& planned : plan.cases) {
    if (planned.target != target.name || there.contains(planned.dataset)) continue;
    const Needs needs =
        Registry<WorkloadEntry>::instance().find(planned.workload.name)->needs(planned.workload.values, plan.layout);
    if (!planned.dataset.empty())
      named[planned.dataset] = larger(named[planned.dataset], needs);
    else if (plan.keep)
      total = {total.bytes + needs.bytes, total.inodes + needs.inodes};
    else
      largest = larger(largest, needs);
  }
  for (const auto& [name, needs] : named) total = {total.bytes + needs.bytes, total.inodes + needs.inodes};
  return {total.bytes + largest.bytes, total.inodes + largest.inodes};
}

/// Collective: of what the leader of the node has found there, for each of its ranks.
std::unique_ptr<WriteBack> write_back_of(const mpi::World& world, const Place& place) {
  TargetSpace space;
  space.file_system = world.node().broadcast(place.space.file_system, 0);
  space.device = static_cast<std::uint64_t>(world.node().broadcast(static_cast<std::int64_t>(place.space.device), 0));
  return make_write_back(space);
}

/// Collective: how many ranks work on the file system that this rank finds there: those that share its device where it
/// is one of a node, else all. Hosts that are namespaces of one machine may share one. The leader of a node looks.
int ranks_sharing(const mpi::World& world, const TargetSpace* space) {
  std::string device = space != nullptr && space->of_this_node() ? std::to_string(space->device) : std::string();
  device = world.node().broadcast(std::move(device), 0);
  const mpi::Comm sharing = world.kernel().split_by_text(device);
  return device.empty() ? world.size() : sharing.size();
}

/// Room is looked at where the folder will be, before anything is made. `sharing`: ranks whose part lies there.
Status check_target(const Plan& plan, const PlannedTarget& target, const mpi::World& world, int sharing,
                    const Result<TargetSpace>& space, Place& place) {
  if (!world.topology().leader()) return {};
  if (!space) return fail(space.error());
  place.space = *space;
  std::map<std::string, Json> there;
  if (plan.continues)
    if (const auto folder = RunFolder::open(target.path, plan.run_id)) there = folder->facts();
  const Needs needs = needs_at(plan, target, there);
  return check_room(target, *space, part_of(needs.bytes, sharing, world.size()),
                    part_of(needs.inodes, sharing, world.size()), plan.limits, memory_left_bytes().value_or(0));
}

/// What a crashed launch of the same run left is removed before the folder is made afresh.
Result<RunFolder> make_clean(const std::string& path, const std::string& run_id, bool continues) {
  if (continues) return RunFolder::make(path, run_id);
  if (auto left_over = RunFolder::open(path, run_id)) {
    if (auto alone = left_over->claim(); !alone) return fail(alone.error());
    if (auto removed = left_over->remove_listed(); !removed) return fail(removed.error());
  }
  return RunFolder::make(path, run_id);
}

Status keep(const Plan& plan, Place& place, Result<RunFolder> folder) {
  if (!folder) return fail(folder.error());
  folder->take_layouts_of(plan.prepared);
  place.folder = std::make_unique<RunFolder>(std::move(*folder));
  return {};
}

/// Another node's leader finds rank 0's folder there (a shared file system), or makes its node's own.
Status find_or_make(const std::string& path, const Plan& plan, const std::string& nonce, Place& place) {
  auto shared = RunFolder::open(path, plan.run_id);
  if (shared && shared->nonce() == nonce) return keep(plan, place, std::move(shared));
  place.writes_manifest = true;
  return keep(plan, place, make_clean(path, plan.run_id, plan.continues));
}

/// Collective: what an earlier launch has entered, as rank 0 finds it, and who shares the folder.
void open_book(const Plan& plan, const mpi::World& world, Place& place, Watchdog& watchdog) {
  std::string known = "{}";
  if (plan.continues && world.root()) {
    const Watched watched(watchdog, "read the manifest of " + place.folder->path());
    known = json_text(Json(place.folder->facts()));
  }
  known = world.all().broadcast(std::move(known), 0);
  DatasetBook::Keep keep;
  if (place.writes_manifest)
    keep = [folder = place.folder.get()](const std::string& name, const Json& facts) {
      return folder->enter_facts(name, facts);
    };
  place.datasets = std::make_unique<DatasetBook>(parse_json(known).get<std::map<std::string, Json>>(), keep);
  const mpi::Comm sharing = world.all().split_by_text(place.folder->nonce());
  place.part = sharing.rank();
  place.parts = sharing.size();
}

/// Collective: rank 0 first, then the other nodes' leaders, then everybody else.
Status make_folders(const Plan& plan, const PlannedTarget& target, const mpi::World& world, Place& place,
                    Watchdog& watchdog) {
  const std::string what = "prepare target '" + target.name + "'";
  Status status;
  if (world.root()) {
    const Watched watched(watchdog, what);
    place.writes_manifest = true;
    status = keep(plan, place, make_clean(target.path, plan.run_id, plan.continues));
  }
  status = mpi::share_status(world.all(), status);
  if (!status) return status;
  const std::string nonce = world.all().broadcast(world.root() ? place.folder->nonce() : std::string(), 0);
  const bool leads = world.topology().leader();
  if (leads && !world.root()) {
    const Watched watched(watchdog, what);
    status = find_or_make(target.path, plan, nonce, place);
  }
  status = mpi::share_status(world.all(), status);
  if (!status) return status;
  if (!leads) {
    const Watched watched(watchdog, what);
    status = keep(plan, place, RunFolder::open(target.path, plan.run_id));
  }
  status = mpi::share_status(world.all(), status);
  if (status) open_book(plan, world, place, watchdog);
  return status;
}

bool is_used(const Plan& plan, const PlannedTarget& target) {
  return !target.path.empty() &&
         std::ranges::any_of(plan.cases, [&](const PlannedCase& c) { return c.target == target.name; });
}

}  // namespace

std::uint64_t part_of(std::uint64_t total, int ranks, int all) {
  const auto some = static_cast<std::uint64_t>(ranks), every = static_cast<std::uint64_t>(all);
  return total / every * some + (total % every * some + every - 1) / every;
}

Status check_room(const PlannedTarget& target, const TargetSpace& space, std::uint64_t needed_bytes,
                  std::uint64_t needed_inodes, const Limits& limits, std::uint64_t available_memory_bytes) {
  const std::string name = "target '" + target.name + "' (" + target.path + ")";
  const std::uint64_t free = space.memory ? std::min(space.free_bytes, available_memory_bytes) : space.free_bytes;
  auto most = static_cast<std::uint64_t>(static_cast<double>(free) * limits.space_fraction);
  most = std::min(most, free > limits.reserve_bytes ? free - limits.reserve_bytes : 0);
  if (limits.space_bytes) most = std::min(most, *limits.space_bytes);
  if (needed_bytes > most)
    return fail(environment_error(name, "needs " + std::to_string(needed_bytes) + " bytes but may take only " +
                                            std::to_string(most) + " of " + std::to_string(free) +
                                            " free; a smaller volume fits"));
  if (static_cast<double>(needed_inodes) > static_cast<double>(space.free_inodes) * limits.space_fraction)
    return fail(environment_error(name, "needs " + std::to_string(needed_inodes) + " inodes, has " +
                                            std::to_string(space.free_inodes) + " free"));
  return {};
}

Result<Places> Places::prepare(const Plan& plan, const mpi::World& world, Watchdog& watchdog) {
  Places places;
  Status status;
  for (const auto& target : plan.targets) {
    Place& place = places.places_[target.name];
    if (!is_used(plan, target)) {
      place.writes_manifest = world.root();
      continue;
    }
    const Watched watched(watchdog, "check target '" + target.name + "'");
    Result<TargetSpace> space = TargetSpace{};
    if (world.topology().leader()) space = RunFolder::space(target.path);
    const int sharing = ranks_sharing(world, space ? &*space : nullptr);
    if (status) status = check_target(plan, target, world, sharing, space, place);
  }
  status = mpi::share_status(world.all(), status);
  if (!status) return fail(status.error());
  for (const auto& target : plan.targets) {
    if (!is_used(plan, target)) continue;
    Place& place = places.places_[target.name];
    place.write_back = write_back_of(world, place);
    status = make_folders(plan, target, world, place, watchdog);
    if (status) continue;
    (void)places.remove(world, watchdog);
    return fail(status.error());
  }
  return places;
}

std::vector<std::string> Places::remove(const mpi::World& world, Watchdog& watchdog) {
  world.all().barrier();
  std::vector<std::string> left;
  for (const auto& [name, place] : places_) {
    if (!place.folder || place.parts < 2) continue;
    const Watched watched(watchdog, "remove what is left at target '" + name + "'", &place.folder->removal_steps());
    place.folder->remove_files_of_part(place.part, place.parts);
  }
  world.all().barrier();
  for (auto& [name, place] : places_) {
    if (!place.folder || !place.writes_manifest) continue;
    const Watched watched(watchdog, "remove the folder at target '" + name + "'", &place.folder->removal_steps());
    const auto removed = place.folder->remove_listed();
    if (!removed) left.push_back(to_line(removed.error()));
    if (removed) left.insert(left.end(), removed->left.begin(), removed->left.end());
  }
  world.all().barrier();
  return left;
}

}  // namespace ullage
