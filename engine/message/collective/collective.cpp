// SPDX-License-Identifier: Apache-2.0
// Workload `collective`: how long a collective operation of MPI takes, and how much of it hides behind computation.
#include "message/collective/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

const Registered<WorkloadEntry> registered_collective{without_storage<CollectiveParameters, MessageWork>({
    .name = "collective",
    .doc = "All ranks call one collective operation of MPI repeatedly. The nonblocking form also runs together with "
           "computation.",
    .check = check_collective,
    .make = single_phase<CollectivePhase>,
})};

}  // namespace
}  // namespace ullage
