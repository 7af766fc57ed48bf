// SPDX-License-Identifier: Apache-2.0
// The targets of a plan on this machine: checked, with room, and with this run's marked folder in each.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/count.hpp"
#include "mpi/comm.hpp"
#include "run/plan.hpp"
#include "run/watchdog.hpp"
#include "storage/run_folder.hpp"
#include "storage/storage_context.hpp"
#include "storage/write_back.hpp"

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

class Places final {
 public:
  /// Collective: all ranks succeed, or all get an error (the others' text where it is not their own) and nothing is
  /// left behind.
  [[nodiscard]] static Result<Places> prepare(const Plan& plan, const mpi::World& world, Watchdog& watchdog);
  [[nodiscard]] const Place& at(const std::string& target) const { return places_.at(target); }
  /// Collective. Removes what the manifests list and the folders; what could not be removed is returned on the rank
  /// that tried.
  [[nodiscard]] std::vector<std::string> remove(const mpi::World& world, Watchdog& watchdog);
  [[nodiscard]] const std::map<std::string, Place>& all() const { return places_; }

 private:
  std::map<std::string, Place> places_;
};

/// Returns what `ranks` of `all` ranks make of a total that all share evenly, rounded up.
[[nodiscard]] Count part_of(Count total, int ranks, int all);

/// Returns what the limits let a plan take of a target. Pure.
[[nodiscard]] std::uint64_t most_bytes(const TargetSpace& space, const Limits& limits,
                                       std::uint64_t available_memory_bytes);

/// Room the plan takes of each target at its fullest, against what is free and the plan's limits. `needs` of all cases:
/// the largest one's, or the sum when datasets are kept. Pure.
[[nodiscard]] Status check_room(const PlannedTarget& target, const TargetSpace& space, Count needed_bytes,
                                Count needed_inodes, const Limits& limits, std::uint64_t available_memory_bytes);

}  // namespace ullage
