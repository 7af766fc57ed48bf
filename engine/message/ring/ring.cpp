// SPDX-License-Identifier: Apache-2.0
// Workload `ring`: HPCC's naturally and randomly ordered rings.
#include "message/ring/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

const Registered<WorkloadEntry> registered_ring{without_storage<RingParameters, MessageWork>({
    .name = "ring",
    .doc = "Sends messages in rings over all ranks, in natural or random order. Each rank exchanges messages with both "
           "neighbours.",
    .check = check_rings,
    .make = single_phase<RingPhase>,
})};

}  // namespace
}  // namespace ullage
