// SPDX-License-Identifier: Apache-2.0
// One repetition of one case: backend and workload made, phases run, dataset removed.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "run/phase_runner.hpp"
#include "run/places.hpp"
#include "run/plan.hpp"
#include "run/schedule.hpp"

namespace ullage {

struct RepetitionReport {
  RepetitionOutcome outcome;            // the same on every rank
  bool interrupted = false;             // likewise
  std::vector<nlohmann::json> records;  // phases and events, on rank 0
};

/// `spill`: the places of the case's further targets. Collective: whatever fails on one rank is agreed, the dataset is
/// removed, and the run can go on.
[[nodiscard]] RepetitionReport run_repetition(const RunContext& context, const Plan& plan, const PlannedCase& planned,
                                              const Place& place, const Schedule::Next& next, AlignedBuffer& buffer,
                                              const std::vector<const Place*>& spill = {});

}  // namespace ullage
