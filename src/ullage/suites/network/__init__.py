# SPDX-License-Identifier: Apache-2.0
"""How fast are TCP and UDP between nodes, at which CPU cost?

The suite measures streams, requests, loss and jitter between pairs of ranks on different nodes. It needs no server. On
a single node the pair uses the loopback, which measures the cores. If iperf3, sockperf and ping are installed, they run
in turn for comparison.
"""

from ullage.runs.suite import MOST, UsualQuickSuite

# The quick form: large blocks, one stream and four, requests of one byte; no peers. What bounds the headline is
# measured with it.
SUITE = UsualQuickSuite(
    "network",
    __doc__ or "",
    "options:NetworkOptions",
    "prepare:prepare_network",
    "findings:summarise",
    {"quick": True, "peer": False},
    (
        *({"protocol": "tcp", "mode": "stream", "streams": streams} for streams in (1, MOST)),
        {"protocol": "unix", "streams": MOST},
    ),
)
