// SPDX-License-Identifier: Apache-2.0
// Workload `one-sided`: put, get and accumulate of MPI, by latency or bandwidth.
#include "message/one_sided/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

const Registered<WorkloadEntry> registered_one_sided{without_storage<OneSidedParameters, MessageWork>({
    .name = "one-sided",
    .doc = "Ranks put to, get from or add to the memory of other ranks by MPI's one-sided operations.",
    .check = check_one_sided,
    .make = single_phase<OneSidedPhase>,
})};

}  // namespace
}  // namespace ullage
