# SPDX-License-Identifier: Apache-2.0
"""What do messages lose when all processes send at once?

The suite shows what simultaneous sending and distant neighbours cost. It measures latency and bandwidth of the
naturally ordered ring, of random rings and of single pairs. The definitions are those of HPC Challenge. If hpcc is
installed, its own numbers are shown for comparison. The ratio of the rings says what kind of network this is.
"""

from ullage.runs.suite import MOST, UsualQuickSuite

# The quick form: a process a core, six times. What bounds the headline is measured with it.
SUITE = UsualQuickSuite(
    "rings",
    __doc__ or "",
    "suite:RingsOptions",
    "suite:prepare_rings",
    "findings:summarise",
    {"quick": True, "repetitions": 6},
    (
        *({"order": order, "message_bytes": MOST} for order in ("random", "natural")),
        {"copiers": "all", "message_bytes": MOST},
    ),
    # Messages and memory over what the cores compute.
    across_at="findings:balance_findings",
)
