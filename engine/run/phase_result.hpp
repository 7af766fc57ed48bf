// SPDX-License-Identifier: Apache-2.0
// One rank's account of a phase, and its reduction over all ranks into a record. O(1) memory a rank.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/meter.hpp"
#include "base/result.hpp"
#include "mpi/clock_sync.hpp"
#include "mpi/comm.hpp"
#include "work/phase_work.hpp"

namespace ullage {

enum Stage : std::size_t { stage_open, stage_transfer, stage_sync, stage_close, stage_count };

/// Stamps are on rank 0's clock, from the run's origin.
struct StageTime {
  std::int64_t start_ns = 0;
  std::int64_t stop_ns = 0;
};

/// `minor`: the page was in memory, or new; `major`: a device had to be read for it.
struct PageFaults {
  std::uint64_t minor = 0;
  std::uint64_t major = 0;
};

/// Returns those of this process until now.
[[nodiscard]] PageFaults process_faults();

struct AtWall {
  std::int64_t stop_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
};

struct RankResult {
  std::array<StageTime, stage_count> stages{};
  bool synced = false;  // had a sync stage of its own
  std::int64_t prepare_ns = 0;
  std::int64_t paused_ns = 0;  // of those, what stamps leave out; the sync's and later ones as far as it was shorter
  std::uint64_t cpu_ns = 0;    // user and system time of this rank's process from before open to after close
  PageFaults faults;           // of the same process and time
  std::optional<AtWall> at_wall;
  bool wear_out_cut = false;     // its limit came before the largest count was reached
  mpi::ClockLine clock;          // from this rank's clock to rank 0's
  std::int64_t origin_ns = 0;    // of the stamps above, on rank 0's clock
  std::int64_t residual_ns = 0;  // how wrong the stamps may be
  std::string clock_measured;    // before, around; empty where all ranks read one clock
  std::optional<Error> error;
  Verification verification;

  [[nodiscard]] std::int64_t to_common(std::int64_t local_ns) const { return clock.to_root(local_ns) - origin_ns; }
  [[nodiscard]] std::int64_t to_local(std::int64_t stamp_ns) const { return clock.to_local(stamp_ns + origin_ns); }
};

/// Collective. Fills `record` on rank 0 with stages, totals, done, stonewall, latency, series, by_rank and failures.
/// Returns the phase's elapsed time on every rank.
[[nodiscard]] std::int64_t reduce_phase(const mpi::World& world, const RankResult& result, const PhaseInfo& info,
                                        Meter& meter, nlohmann::json& record);

/// Collective: what the ranks have counted, added up.
[[nodiscard]] nlohmann::json counters_json(const mpi::Comm& all, const Counters& counters);

/// Collective: sum, least and most of what the ranks have measured.
[[nodiscard]] nlohmann::json gauges_json(const mpi::Comm& all, const Gauges& gauges);

/// Collective. The errors of the lowest ranks that have one of their own (at most 8), as the record's failures, on rank
/// 0.
[[nodiscard]] nlohmann::json gather_failures(const mpi::World& world, const std::optional<Error>& error);

}  // namespace ullage
