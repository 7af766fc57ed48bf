// SPDX-License-Identifier: Apache-2.0
// Workload `ping-pong`: one-way times between pairs.
#include "message/ping_pong/phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

const Registered<WorkloadEntry> registered_ping_pong{without_storage<PingPongParameters, MessageWork>({
    .name = "ping-pong",
    .doc = "Sends messages between pairs of ranks or nodes: all pairs in the rounds of a tournament, or a sample of "
           "them.",
    .check = check_ping_pong,
    .make = single_phase<PingPongPhase>,
})};

}  // namespace
}  // namespace ullage
