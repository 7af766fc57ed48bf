// SPDX-License-Identifier: Apache-2.0
// Workload `exchange`: one pattern of messages with all its ranks active.
#include "message/exchange/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

const Registered<WorkloadEntry> registered_exchange{without_storage<ExchangeParameters, MessageWork>({
    .name = "exchange",
    .doc = "Sends the messages of one pattern (bisections, rings, halos, incast, a given list) with all ranks of the "
           "pattern active.",
    .check = check_exchange,
    .make = single_phase<ExchangePhase>,
})};

}  // namespace
}  // namespace ullage
