// SPDX-License-Identifier: Apache-2.0
// What a case does, cut into phases. Which operation comes next is a pure pattern; this binds it to a backend and
// buffers.
#pragma once

#include <functional>
#include <variant>

#include "base/count.hpp"
#include "base/pinned.hpp"
#include "base/registry.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// They are defined in storage/, which lies above: work on a target includes them from there.
struct Capabilities;
struct StorageContext;

/// Says what one repetition takes of a target at its fullest, over all ranks, besides the run's folder.
struct Needs {
  Count bytes;
  Count inodes;
  Count directories;  // in each folder of the run, where nodes have one of their own; not in `inodes`

  friend constexpr Needs operator+(const Needs& a, const Needs& b) {
    return {a.bytes + b.bytes, a.inodes + b.inodes, a.directories + b.directories};
  }
};

/// Most bytes of a file, or of all that a case keeps: an offset of MPI is signed.
inline constexpr std::uint64_t most_file_bytes = 4'000'000'000'000'000'000;

/// What a file takes in whole blocks of most file systems.
[[nodiscard]] constexpr Count in_blocks(Count bytes) { return bytes.rounded_up(4096); }
/// Needs of `files` with so many bytes each in the dataset's directory, where there are `more_inodes` besides.
[[nodiscard]] constexpr Needs file_needs(Count files, Count bytes_each, Count more_inodes = 0) {
  return {files * in_blocks(bytes_each), files + more_inodes, 1};
}

/// Holds what work without storage is bound to; outlives it.
struct WorkloadContext {
  const mpi::World* world = nullptr;
  std::uint64_t run_key = 0;  // differs for every repetition
  /// The beginning of the paths, beside the records and of this repetition alone, at which tables lie that are too
  /// large for a record; empty: nowhere.
  std::string tables = {};
};
/// A part of what a workload does before its phases or after them. It is local: nothing in it waits for another rank,
/// so that a rank whose step fails is there when all agree on how it went. Only a library's call that every rank makes
/// whatever befell it, as the closing of a shared file, may stand in one.
struct LocalStep {
  std::string name;
  std::function<Status()> run;
};
using LocalSteps = std::vector<LocalStep>;

/// One repetition of a case on this rank: find_peers, the steps of begin, each phase in order, the steps of end. What
/// ranks do together between the steps is the caller's: see begin_together.
class Workload : public Interface {
 public:
  /// Collective and the first of all: what the ranks find out about each other. Throws on all of them or on none.
  virtual void find_peers() {}
  /// All ranks have done a step when the next one begins, and no rank begins one after a step that has failed anywhere.
  [[nodiscard]] virtual LocalSteps begin() { return {}; }
  [[nodiscard]] virtual std::size_t phases() const = 0;
  [[nodiscard]] virtual std::unique_ptr<PhaseWork> phase(std::size_t index) = 0;
  /// Removes what begin() and the phases made, unless it stays and all of it is `whole`: no phase failed or was cut
  /// short. All ranks have done a step when the next one begins, and every step is done, also after one that failed:
  /// what can be removed is.
  [[nodiscard]] virtual LocalSteps end(bool whole) {
    (void)whole;
    return {};
  }
};

/// Does a step, as by somebody who watches it.
using RunStep = std::function<Status(const LocalStep&)>;
[[nodiscard]] Status just_run(const LocalStep& step);

/// Collective: the ranks find their peers and do the steps of begin() together.
[[nodiscard]] mpi::Agreement begin_together(Workload& workload, const mpi::Comm& everyone,
                                            const RunStep& run = just_run);
/// Collective: the ranks do the steps of end() together. The own outcome is this rank's first error.
[[nodiscard]] mpi::Agreement end_together(Workload& workload, bool whole, const mpi::Comm& everyone,
                                          const RunStep& run = just_run);

/// Work on cores and memory, and of messages between ranks; a case's backend is `null`.
struct WorkWithoutStorage {
  /// Checks that span parameters, against the layout; null: nothing. `pointer` is that of the parameters object.
  std::function<Status(const Values&, const PlannedLayout&, const std::string& pointer)> check = nullptr;
  std::function<std::unique_ptr<Workload>(const Values&, const WorkloadContext&)> make;
};

/// Work on a target, through a backend.
struct StorageWork {
  /// Checks as work without storage does, and against the backend's capabilities.
  std::function<Status(const Values&, const Capabilities&, const PlannedLayout&, const std::string& pointer)> check;
  std::function<Needs(const Values&, const PlannedLayout&)> needs;
  std::function<std::unique_ptr<Workload>(const Values&, const StorageContext&)> make;
  /// Says whether it works on a dataset that another case has made, which the plan must name; null: never.
  std::function<bool(const Values&)> uses_dataset = nullptr;
  /// Says whether its data may lie at several targets, with these values; null: never. `pointer` is that of the case.
  std::function<Status(const Values&, const std::string& pointer)> check_spill = nullptr;
  /// Says whether ranks use files of each other, so that all must have the same folder; null: never.
  std::function<bool(const Values&)> needs_one_folder = nullptr;
};

struct WorkloadEntry {
  Description description;
  std::variant<WorkWithoutStorage, StorageWork> work;

  [[nodiscard]] bool works_on_storage() const { return std::holds_alternative<StorageWork>(work); }
  [[nodiscard]] Status check(const Values& values, const Capabilities& capabilities, const PlannedLayout& layout,
                             const std::string& pointer) const;
  [[nodiscard]] Needs needs(const Values& values, const PlannedLayout& layout) const;
  [[nodiscard]] bool uses_dataset(const Values& values) const;
  [[nodiscard]] Status check_spill(const Values& values, const std::string& pointer) const;
  [[nodiscard]] bool needs_one_folder(const Values& values) const;
};

// Compiled in workload.cpp.
extern template class Registry<WorkloadEntry>;
extern template struct Registered<WorkloadEntry>;

}  // namespace ullage
