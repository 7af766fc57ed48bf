// SPDX-License-Identifier: Apache-2.0
// Owns the only timing loop: barrier, start stamp, open, operations, sync, close, agreement. What is moved it knows as
// operations of a PhaseWork alone; of the target it knows the run's folder, at which probes look.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/meter.hpp"
#include "base/std.hpp"
#include "mpi/clock_sync.hpp"
#include "mpi/comm.hpp"
#include "probes/probe.hpp"
#include "run/watchdog.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// Holds what all phases of a run share; outlives them.
struct RunContext {
  const mpi::World* world = nullptr;
  mpi::CommonClock* clock = nullptr;
  Watchdog* watchdog = nullptr;
  Meter* meter = nullptr;
  std::span<const std::unique_ptr<Probe>> probes;
  std::int64_t origin_ns = 0;             // on rank 0's clock
  const WriteBack* write_back = nullptr;  // of the target; null: nobody counts it
};

enum class PhaseStatus { ok, failed, interrupted };

/// Is the same on every rank.
struct PhaseOutcome {
  PhaseStatus status = PhaseStatus::ok;
  std::int64_t elapsed_ns = 0;
  char grade = 'A';
};

/// Runs one phase. Collective. On rank 0 `record` becomes the phase record, but for case, repetition and warm-up.
[[nodiscard]] PhaseOutcome run_phase(const RunContext& context, const RunFolder* folder, PhaseWork& work,
                                     nlohmann::json& record);

[[nodiscard]] std::string word(PhaseStatus status);

}  // namespace ullage
