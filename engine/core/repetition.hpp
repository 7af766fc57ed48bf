// SPDX-License-Identifier: Apache-2.0
// One repetition of one case: backend and workload made, phases run, dataset removed.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "core/phase_runner.hpp"
#include "core/places.hpp"
#include "core/plan.hpp"
#include "core/schedule.hpp"

namespace ullage {

struct RepetitionReport {
  RepetitionOutcome outcome;            // the same on every rank
  bool interrupted = false;             // likewise
  std::vector<nlohmann::json> records;  // phases and events, on rank 0
};

/// Collective: whatever fails on one rank is agreed, the dataset is removed, and the run can go on.
[[nodiscard]] RepetitionReport run_repetition(const RunContext& context, const Plan& plan, const PlannedCase& planned,
                                              const Place& place, const Schedule::Next& next, AlignedBuffer& buffer);

}  // namespace ullage
