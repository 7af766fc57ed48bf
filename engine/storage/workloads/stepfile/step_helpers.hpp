// SPDX-License-Identifier: Apache-2.0
// Threads of one rank that move states while it computes.
#pragma once

#include "base/helper_threads.hpp"
#include "storage/workloads/stepfile/step_files.hpp"

namespace ullage {

/// A slot for each state that is under way; each helper has its own clock.
using StepHelpers = HelperThreads<Result<StepTimes>, HelperClock>;

}  // namespace ullage
