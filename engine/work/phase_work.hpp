// SPDX-License-Identifier: Apache-2.0
// What a rank does in one phase, cut at the places where the phase runner looks at the clock.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>

#include "base/meter.hpp"
#include "base/parameters.hpp"
#include "base/pinned.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

/// The ranks and threads a plan was made for.
struct PlannedLayout {
  int ranks = 1;
  std::optional<int> nodes;
  std::optional<int> ranks_per_node;
  int threads = 1;
  std::string binding = "none";
};

enum class Access { none, write, read, metadata };

/// Something the reader of the results must know, said once a case.
struct Notice {
  std::string code;
  std::string text;
  std::string advice;
};

struct PhaseInfo {
  std::string name = {};
  Access access = Access::none;
  bool collective =
      false;  // operations are collective: ranks agree before each whether to go on when there is a stonewall
  bool collective_sync = false;   // sync() is collective: ranks in error take part
  std::int64_t stonewall_ns = 0;  // 0: none
  /// The clock stands still while operations are prepared between batches; as much of that as a sync takes at the end
  /// counts after all, since what is waited for then went on meanwhile. Else all of that time is the phase's.
  bool clock_stops = false;
  bool wear_out = false;
  std::int64_t wear_out_limit_ns = 0;  // longest time after the stonewall that wear-out may take; 0: any
  std::uint64_t bytes_at_once = 0;     // most that a rank moves without an operation's end
  std::string cache_control = "none";
  std::string data_of = {};             // of a reading phase: own, other-rank, other-node
  std::vector<std::string> files = {};  // whose residency this rank reports; names in the run folder
  std::vector<Notice> notices = {};     // the same on every rank
  std::vector<std::string> parts = {};  // of an operation that have histograms of their own, as the meter numbers them
};

/// Counts of this rank that are no operations and no bytes; the same names on every rank, added over them.
using Counters = std::map<std::string, std::uint64_t>;

/// Holds what this rank measured and cannot count, in the unit that ends the name; the same names on every rank. The
/// record has their sum, least and most over the ranks.
using Gauges = std::map<std::string, double>;

struct Verification {
  std::uint64_t verified_bytes = 0;
  std::uint64_t bad_blocks = 0;
  std::optional<Error> first;  // of this rank

  /// Returns what one check of everything that this rank did has found.
  [[nodiscard]] static Verification of(const Status& right) {
    if (right) return {};
    return {.verified_bytes = 0, .bad_blocks = 1, .first = right.error()};
  }
};

/// Called by the phase runner in the order of the declarations; open() to close() are timed. The constructor is local:
/// in it, and in what is called local here, nothing waits for another rank. Where that fails on any rank, or before()
/// does, no rank goes on. Collective parts follow the rule of mpi::agreed_allocation().
class PhaseWork : public Interface {
 public:
  [[nodiscard]] virtual PhaseInfo info() const = 0;
  /// Untimed and local: memory, handles and whatever else the rank needs before it does anything with the others.
  [[nodiscard]] virtual Status allocate() { return {}; }
  /// Untimed and collective: cache control, refusal of holes ... A rank whose own part fails does what the others do.
  [[nodiscard]] virtual Status before() { return {}; }
  /// Operations of this rank in the whole phase.
  [[nodiscard]] virtual std::uint64_t operations() const = 0;
  /// Readies operations [first, first + n), n <= most, n >= 1: offsets, payload. The first call comes before the start
  /// barrier, later ones between batches and are accounted as prepare_ns, never in an operation's latency, and in no
  /// time at all where the clock stops. Local; of a collective phase only the first call may allocate. As it stands
  /// here all are ready as they are, and execute() finds in first_ and prepared_ which it is to do.
  [[nodiscard]] virtual std::uint64_t prepare(std::uint64_t first, std::uint64_t most) {
    first_ = first;
    prepared_ = most;
    return most;
  }
  [[nodiscard]] virtual Status open() { return {}; }
  /// Executes what was prepared, ticking the meter after each operation; begins none after the meter said stop.
  [[nodiscard]] virtual Status execute(Meter& meter) = 0;
  /// One request for durability after the last operation; false: this phase asks for none.
  [[nodiscard]] virtual bool wants_sync() const { return false; }
  [[nodiscard]] virtual Status sync() { return {}; }
  [[nodiscard]] virtual Status close() { return {}; }
  /// Untimed and collective: verification. `executed` operations were done by this rank. What goes on ticks `progress`.
  [[nodiscard]] virtual Verification after(std::uint64_t executed, Meter& progress) {
    (void)executed;
    (void)progress;
    return {};
  }
  /// Asked after the phase.
  [[nodiscard]] virtual Counters counters() const { return {}; }
  [[nodiscard]] virtual Gauges gauges() const { return {}; }
  /// Adds what is neither a count nor a measurement of each rank: who was whose neighbour, a matrix. Rank 0's stands
  /// in the record; what it needs from others was gathered in after(). `facts` is an empty object.
  virtual void add_facts(nlohmann::json& facts) const { (void)facts; }
  [[nodiscard]] virtual Map hints_given() const { return {}; }
  [[nodiscard]] virtual Map hints_granted() const { return {}; }

 protected:
  std::uint64_t first_ = 0;
  std::uint64_t prepared_ = 0;
};

}  // namespace ullage
