// SPDX-License-Identifier: Apache-2.0
// The targets of a plan on this machine: checked, with room, and with this run's marked folder in each.
#pragma once

#include <map>

#include "base/count.hpp"
#include "base/json.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"
#include "run/plan.hpp"
#include "run/watchdog.hpp"
#include "storage/file_facts.hpp"
#include "storage/run_folder.hpp"
#include "storage/storage_context.hpp"
#include "storage/write_back.hpp"
#include "work/workload.hpp"

namespace ullage {

struct Place {
  std::unique_ptr<RunFolder> folder;  // null: no storage
  std::unique_ptr<DatasetFacts> datasets = std::make_unique<DatasetFacts>();
  bool writes_manifest = false;  // this rank writes the manifest: one a file system
  int part = 0;                  // of the ranks that share the folder, this one's number and their count
  int parts = 1;
  TargetSpace space;                      // as it was before the run, on this node
  std::uint64_t room_bytes = 0;           // that each rank may take there
  bool dax = false;                       // rank 0's folder is on persistent memory past the page cache
  std::unique_ptr<WriteBack> write_back;  // null: nobody counts it
};

/// The ranks for which a target is the same path: all, unless the path has words that stand for where a rank is. Of
/// those on a node the first leads.
struct SharingRanks {
  mpi::Comm all;
  mpi::Comm node;
  SharingRanks(const mpi::World& world, const std::string& path)
      : all(world.all().split_by_text(path)), node(world.node().split_by_text(path)) {}
  [[nodiscard]] bool root() const { return all.rank() == 0; }
  [[nodiscard]] bool leader() const { return node.rank() == 0; }
};

/// Collective: of what the leader has found there, for each of the node's ranks.
inline std::unique_ptr<WriteBack> write_back_of(const SharingRanks& sharers, const Place& place) {
  TargetSpace space;
  space.file_system = sharers.node.broadcast(place.space.file_system, 0);
  space.device = static_cast<std::uint64_t>(sharers.node.broadcast(static_cast<std::int64_t>(place.space.device), 0));
  return make_write_back(space);
}

/// Holds what cases with several targets may take, by file system; those in memory have it from one memory.
using GivenBytes = std::map<std::uint64_t, std::uint64_t>;

/// Collective: how many ranks work on the file system that this rank finds there: those that share its device where it
/// is one of a node, else all. Hosts that are namespaces of one machine may share one. The leader of a node looks.
inline int ranks_sharing(const mpi::World& world, const SharingRanks& sharers, const TargetSpace* space) {
  std::string device = space != nullptr && space->of_this_node() ? std::to_string(space->device) : std::string();
  device = sharers.node.broadcast(std::move(device), 0);
  const mpi::Comm sharing = world.kernel().split_by_text(device);
  return device.empty() ? world.size() : sharing.size();
}

inline constexpr std::uint64_t folder_inodes = 3;  // the folder itself, its marker, its manifest

inline Needs larger(const Needs& a, const Needs& b) {
  return {std::max(a.bytes, b.bytes), std::max(a.inodes, b.inodes), std::max(a.directories, b.directories)};
}

inline Status keep(const Plan& plan, Place& place, Result<RunFolder> folder) {
  if (!folder) return fail(folder.error());
  folder->take_layouts_of(plan.prepared);
  place.folder = std::make_unique<RunFolder>(std::move(*folder));
  return {};
}

/// Named datasets live side by side, each as large as the case that takes most of it; of the others one at a time does,
/// unless they are kept. What is `there` already needs no more room.
inline Needs needs_at(const Plan& plan, const PlannedTarget& target, const std::map<std::string, Json>& there) {
  Needs total;
  Needs largest;
  std::map<std::string, Needs> named;
  for (const auto& planned : plan.cases) {
    if (!Plan::may_lie_at(planned, target.name) || there.contains(planned.dataset)) continue;
    Needs needs =
        Registry<WorkloadEntry>::instance().find(planned.workload.name)->needs(planned.workload.values, plan.layout);
    if (!planned.spill.empty()) needs.bytes = 0;  // it takes the room that there is
    if (!planned.dataset.empty())
      named[planned.dataset] = larger(named[planned.dataset], needs);
    else if (plan.keep)
      total = total + needs;
    else
      largest = larger(largest, needs);
  }
  for (const auto& [name, needs] : named) total = total + needs;
  return total + largest;
}

inline std::uint64_t free_bytes(const TargetSpace& space, std::uint64_t available_memory_bytes) {
  return space.memory ? std::min(space.free_bytes, available_memory_bytes) : space.free_bytes;
}

/// Returns what the limits let a plan take of a target. Pure.
[[nodiscard]] inline std::uint64_t most_bytes(const TargetSpace& space, const Limits& limits,
                                              std::uint64_t available_memory_bytes) {
  const std::uint64_t free = free_bytes(space, available_memory_bytes);
  auto most = static_cast<std::uint64_t>(static_cast<double>(free) * limits.space_fraction);
  most = std::min(most, free > limits.reserve_bytes ? free - limits.reserve_bytes : 0);
  return limits.space_bytes ? std::min(most, *limits.space_bytes) : most;
}

/// Returns the room of a further target on a file system that has others, which is what they leave of its limit.
inline std::uint64_t room_at(const TargetSpace& space, const Limits& limits, std::uint64_t memory_bytes,
                             GivenBytes& given) {
  Limits of_all = limits;
  of_all.space_bytes.reset();
  std::uint64_t& taken = given[space.memory ? 0 : space.device];
  const std::uint64_t most = most_bytes(space, of_all, memory_bytes);
  const std::uint64_t left = most > taken ? most - taken : 0;
  const std::uint64_t room = std::min(left, limits.space_bytes.value_or(left));
  taken += room;
  return room;
}

/// Returns what `ranks` of `all` ranks make of a total that all share evenly, rounded up.
[[nodiscard]] inline Count part_of(Count total, int ranks, int all) {
  return total.part(static_cast<std::uint64_t>(ranks), static_cast<std::uint64_t>(all));
}

/// Room the plan takes of each target at its fullest, against what is free and the plan's limits. `needs` of all cases:
/// the largest one's, or the sum when datasets are kept. Pure.
[[nodiscard]] inline Status check_room(const PlannedTarget& target, const TargetSpace& space, Count needed_bytes,
                                       Count needed_inodes, const Limits& limits,
                                       std::uint64_t available_memory_bytes) {
  const std::string name = "target '" + target.name + "' (" + target.path + ")";
  const std::uint64_t free = free_bytes(space, available_memory_bytes);
  const std::uint64_t most = most_bytes(space, limits, available_memory_bytes);
  if (needed_bytes > most || !needed_bytes.is_known())
    return fail(environment_error(
        name, most == 0 ? "has no room: " + std::to_string(free) + " bytes are free; free some, or name another target"
                        : "needs " + needed_bytes.text() + " bytes but may take only " + std::to_string(most) + " of " +
                              std::to_string(free) + " free; a smaller volume fits"));
  if (static_cast<double>(needed_inodes.value()) > static_cast<double>(space.free_inodes) * limits.space_fraction ||
      !needed_inodes.is_known())
    return fail(environment_error(
        name, "needs " + needed_inodes.text() + " inodes, has " + std::to_string(space.free_inodes) + " free"));
  return {};
}

/// Room is looked at where the folder will be, before anything is made. `sharing`: ranks whose part lies there.
inline Status check_target(const Plan& plan, const PlannedTarget& target, int sharing, const Result<TargetSpace>& space,
                           GivenBytes& given, Place& place) {
  if (!space) return fail(space.error());
  place.space = *space;
  std::map<std::string, Json> there;
  Count inodes = folder_inodes;
  if (plan.continues)
    if (const auto folder = RunFolder::open(target.path, plan.run_id)) {
      there = folder->facts();
      inodes = 0;
    }
  const Needs needs = needs_at(plan, target, there);
  const std::uint64_t memory_bytes = memory_left_bytes().value_or(0);
  place.room_bytes = room_at(*space, plan.limits, memory_bytes, given) / static_cast<std::uint64_t>(sharing);
  inodes += needs.directories + part_of(needs.inodes, sharing, plan.layout.ranks);
  return check_room(target, *space, part_of(needs.bytes, sharing, plan.layout.ranks), inodes, plan.limits,
                    memory_bytes);
}

/// Collective: the leader of those that share the path on a node judges the room there.
inline Status look_at(const Plan& plan, const PlannedTarget& target, const mpi::World& world,
                      const SharingRanks& sharers, GivenBytes& given, Place& place) {
  Result<TargetSpace> space = TargetSpace{};
  if (sharers.leader()) space = RunFolder::space(target.path);
  const int sharing = ranks_sharing(world, sharers, space ? &*space : nullptr);
  const Status status = sharers.leader() ? check_target(plan, target, sharing, space, given, place) : Status{};
  place.room_bytes = static_cast<std::uint64_t>(sharers.node.broadcast(static_cast<std::int64_t>(place.room_bytes), 0));
  return status;
}

/// What a crashed launch of the same run left is removed before the folder is made afresh.
inline Result<RunFolder> make_clean(const std::string& path, const Plan& plan, Watchdog& watchdog) {
  const std::string& run_id = plan.run_id;
  if (plan.continues) return RunFolder::make(path, run_id);
  if (auto left_over = RunFolder::open(path, run_id)) {
    const Watched watched(watchdog, "remove what an earlier launch left at " + path, {&left_over->removal_steps()});
    if (auto alone = left_over->claim(); !alone) return fail(alone.error());
    if (auto removed = left_over->remove_listed(); !removed) return fail(removed.error());
  }
  return RunFolder::make(path, run_id);
}

/// Another node's leader finds the root's folder there (a shared file system), or makes its node's own.
inline Status find_or_make(const std::string& path, const Plan& plan, const std::string& nonce, Place& place,
                           Watchdog& watchdog) {
  auto shared = RunFolder::open(path, plan.run_id);
  if (shared && shared->nonce() == nonce) return keep(plan, place, std::move(shared));
  place.writes_manifest = true;
  return keep(plan, place, make_clean(path, plan, watchdog));
}

/// Collective: what an earlier launch has entered, as the root finds it, and who shares the folder.
inline void open_book(const Plan& plan, const mpi::World& world, const SharingRanks& sharers, Place& place) {
  std::string known = "{}";
  if (plan.continues && sharers.root()) known = json_text(Json(place.folder->facts()));
  known = sharers.all.broadcast(std::move(known), 0);
  DatasetFacts::Keep keep;
  if (place.writes_manifest)
    keep = [folder = place.folder.get()](const std::string& name, const Json& facts) {
      return folder->enter_facts(name, facts);
    };
  place.datasets = std::make_unique<DatasetFacts>(parse_json(known).get<std::map<std::string, Json>>(), keep);
  const mpi::Comm sharing = world.all().split_by_text(place.folder->nonce());
  place.part = sharing.rank();
  place.parts = sharing.size();
}

/// Collective: the root of each path first, then the other nodes' leaders, then everybody else.
inline Status make_folders(const Plan& plan, const PlannedTarget& target, const mpi::World& world,
                           const SharingRanks& sharers, Place& place, Watchdog& watchdog) {
  Status status;
  if (sharers.root()) {
    place.writes_manifest = true;
    status = keep(plan, place, make_clean(target.path, plan, watchdog));
  }
  status = mpi::share_status(world.all(), status);
  if (!status) return status;
  place.dax = sharers.root() && is_dax(*place.folder);
  const std::string nonce = sharers.all.broadcast(sharers.root() ? place.folder->nonce() : std::string(), 0);
  const bool leads = sharers.leader();
  if (leads && !sharers.root()) status = find_or_make(target.path, plan, nonce, place, watchdog);
  status = mpi::share_status(world.all(), status);
  if (!status) return status;
  if (!leads) status = keep(plan, place, RunFolder::open(target.path, plan.run_id));
  status = mpi::share_status(world.all(), status);
  if (status) open_book(plan, world, sharers, place);
  return status;
}

/// Ends the same on all ranks: where one has another folder than the others, none shares its own with all.
inline Status check_one_folder(const Plan& plan, const PlannedTarget& target, const Place& place,
                               const mpi::World& world) {
  if (place.parts == world.size()) return {};
  auto& known = Registry<WorkloadEntry>::instance();
  for (const PlannedCase& planned : plan.cases) {
    const WorkloadEntry* workload = known.find(planned.workload.name);
    if (!Plan::may_lie_at(planned, target.name) || workload == nullptr) continue;
    if (workload->needs_one_folder(planned.workload.values))
      return fail(environment_error("target '" + target.name + "' (" + target.path + ")",
                                    "is not one folder for all ranks, whose files workload " + planned.workload.name +
                                        " shares; use a path that all ranks share, without words in braces"));
  }
  return {};
}

inline bool is_used(const Plan& plan, const PlannedTarget& target) {
  return !target.path.empty() &&
         std::ranges::any_of(plan.cases, [&](const PlannedCase& c) { return Plan::may_lie_at(c, target.name); });
}

class Places final {
 public:
  /// Collective: all ranks succeed, or all get an error (the others' text where it is not their own) and nothing is
  /// left behind.
  [[nodiscard]] static Result<Places> prepare(const Plan& plan, const mpi::World& world, Watchdog& watchdog) {
    Places places;
    std::map<std::string, SharingRanks> sharers;
    GivenBytes given;
    Status status;
    for (const auto& target : plan.targets) {
      Place& place = places.places_[target.name];
      if (!is_used(plan, target)) {
        place.writes_manifest = world.root();
        continue;
      }
      const SharingRanks& own = sharers.try_emplace(target.name, world, target.path).first->second;
      const Watched watched(watchdog, "check target '" + target.name + "'");
      Status found = look_at(plan, target, world, own, given, place);
      if (status) status = std::move(found);
    }
    status = mpi::share_status(world.all(), status);
    if (!status) return fail(status.error());
    for (const auto& target : plan.targets) {
      if (!is_used(plan, target)) continue;
      Place& place = places.places_[target.name];
      const SharingRanks& own = sharers.at(target.name);
      const Watched watched(watchdog, "prepare target '" + target.name + "'");
      place.write_back = write_back_of(own, place);
      status = make_folders(plan, target, world, own, place, watchdog);
      if (status) status = check_one_folder(plan, target, place, world);
      if (status) continue;
      (void)places.remove(world, watchdog);
      return fail(status.error());
    }
    return places;
  }

  [[nodiscard]] const Place& at(const std::string& target) const { return places_.at(target); }

  /// Collective. Removes what the manifests list and the folders; what could not be removed is returned on the rank
  /// that tried.
  [[nodiscard]] std::vector<std::string> remove(const mpi::World& world, Watchdog& watchdog) {
    world.all().barrier();
    std::vector<std::string> left;
    for (const auto& [name, place] : places_) {
      if (!place.folder || place.parts < 2) continue;
      const Watched watched(watchdog, "remove what is left at target '" + name + "'", {&place.folder->removal_steps()});
      place.folder->remove_files_of_part(place.part, place.parts);
    }
    world.all().barrier();
    for (auto& [name, place] : places_) {
      if (!place.folder || !place.writes_manifest) continue;
      const Watched watched(watchdog, "remove the folder at target '" + name + "'", {&place.folder->removal_steps()});
      const auto removed = place.folder->remove_listed();
      if (!removed) left.push_back(to_line(removed.error()));
      if (removed) left.insert(left.end(), removed->left.begin(), removed->left.end());
    }
    world.all().barrier();
    return left;
  }

  [[nodiscard]] const std::map<std::string, Place>& all() const { return places_; }

 private:
  std::map<std::string, Place> places_;
};

}  // namespace ullage
