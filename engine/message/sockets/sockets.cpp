// SPDX-License-Identifier: Apache-2.0
// Workload `sockets`: TCP and UDP between ranks.
#include "message/sockets/sockets.hpp"

namespace ullage {
namespace {

const Registered<WorkloadEntry> registered_sockets{without_storage<SocketsParameters>({
    .name = "sockets",
    .doc =
        "Runs streams, requests and echoes by TCP, UDP and ICMP between pairs of ranks. A pair has the same place on "
        "two nodes, or is two neighbours on one node.",
    .check = check_sockets,
    .make = single_phase<SocketsPhase>,
})};

}  // namespace
}  // namespace ullage
