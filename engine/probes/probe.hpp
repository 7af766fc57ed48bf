// SPDX-License-Identifier: Apache-2.0
// Readers of counters around a phase. They run outside the timer; what they read is reduced over ranks and nodes and
// put into the phase's record under their own key.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "base/pinned.hpp"
#include "base/registry.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

/// Says what a probe may know of the phase it surrounds. Same fields on every rank except `files`.
struct PhaseScope {
  const mpi::World* world = nullptr;
  const RunFolder* folder = nullptr;  // null without a path
  bool reads = false;
  bool writes = false;
  std::vector<std::string> files;     // names in the run folder whose pages this rank has to look at
  std::uint64_t requested_bytes = 0;  // over all ranks, known at end() only
  std::int64_t elapsed_ns = 0;        // known at end() only
};

class Probe : public Interface {
 public:
  /// Just before the barrier that starts the phase; not collective, no waiting. Every rank comes here, so that a
  /// probe's very first begin() may be collective, to learn what does not change.
  virtual void begin(const PhaseScope& scope) = 0;
  /// Just after this rank's phase; not collective.
  virtual void end(const PhaseScope& scope) = 0;
  /// When every rank is past end() and before anything else is done (verification reads); not collective. For counters
  /// that one rank reads for others.
  virtual void settle(const PhaseScope& scope) { (void)scope; }
  /// Collective; rank 0 fills `record` (the phase record) with the probe's keys. Facts that cannot be read are null,
  /// never invented.
  virtual void report(const PhaseScope& scope, nlohmann::json& record) = 0;
};

struct ProbeEntry {
  Description description;
  std::function<std::unique_ptr<Probe>()> make;
};

/// Facts of a node that do not change during the run (kernel, CPUs, memory, clock source ...), by its leader; rank 0
/// gets them one node at a time, in constant memory. Collective. `sink` is called on rank 0.
void report_nodes(const mpi::World& world,
                  const std::function<void(const std::string& node, const nlohmann::json& facts)>& sink);

/// Says whether this rank is bound to fewer cores than its node lets it use, and the cores its node's ranks may use
/// (affinity and cgroup counted).
struct CoreBudget {
  bool pinned = false;
  int cores_available = 1;
  std::vector<int> cpus{};  // to which the node's ranks are bound, all together; in order
};
[[nodiscard]] CoreBudget core_budget(const mpi::World& world);  // collective over the node

/// CPUs that this node lets its ranks use and none of them is bound to: threads that must not disturb what is measured
/// run there. Empty where there are none, as where ranks are not bound. Collective over the node.
[[nodiscard]] std::vector<int> cpus_of_no_rank(const mpi::World& world);

}  // namespace ullage
