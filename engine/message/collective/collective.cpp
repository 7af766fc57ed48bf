// SPDX-License-Identifier: Apache-2.0
// Workload `collective`: how long a collective operation of MPI takes, and how much of it hides behind computation.
#include "message/collective/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

const Registered<WorkloadEntry> registered_collective{without_storage<CollectiveParameters, MessageWork>({
    .name = "collective",
    .doc = "one collective operation of MPI, called again and again by all ranks; the nonblocking form also beside "
           "computation",
    .check = check_collective,
    .make = single_phase<CollectivePhase>,
})};

}  // namespace
}  // namespace ullage
