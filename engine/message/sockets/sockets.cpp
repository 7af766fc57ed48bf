// SPDX-License-Identifier: Apache-2.0
// Workload `sockets`: TCP and UDP between ranks.
#include "message/sockets/sockets_phase.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

const Registered<WorkloadEntry> registered_sockets{without_storage<SocketsParameters, MessageWork>({
    .name = "sockets",
    .doc =
        "streams, requests and echoes by TCP, UDP and ICMP between pairs of ranks: of the same place on two nodes, or "
        "neighbours on one",
    .check = check_sockets,
    .make = single_phase<SocketsPhase>,
})};

}  // namespace
}  // namespace ullage
