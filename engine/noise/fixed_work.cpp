// SPDX-License-Identifier: Apache-2.0
// Workload `fixed-work`: the machine's noise, by work that always takes the same number of cycles.
#include "noise/fixed_work_phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

const Registered<WorkloadEntry> registered_fixed_work{without_storage<FixedWorkParameters>({
    .name = "fixed-work",
    .doc = "Times quanta of the same work on each thread, then watches for detours: times when something else runs on "
           "the thread's core.",
    .make = single_phase<FixedWorkPhase>,
})};

}  // namespace
}  // namespace ullage
