# SPDX-License-Identifier: Apache-2.0
"""How fast are TCP and UDP between nodes: streams, requests, loss, what they cost in processor time?

Ranks of different nodes pair up and need no server; on one node the pair goes over the loopback, which measures its
cores. Where iperf3, sockperf and ping are installed, they run in turn with ours and their numbers stand beside.
"""

from ullage.runs.suite import UsualQuickSuite

# The quick form: large blocks, one stream and four, requests of one byte; no peers.
SUITE = UsualQuickSuite(
    "network",
    __doc__ or "",
    "options:NetworkOptions",
    "prepare:prepare_network",
    "summarise:summarise",
    {"quick": True, "peer": False},
)
