# SPDX-License-Identifier: Apache-2.0
"""What do messages lose when all processes send at once?

The suite shows what simultaneous sending and distant neighbours cost. It measures latency and bandwidth of the
naturally ordered ring, of random rings and of single pairs. The definitions are those of HPC Challenge. If hpcc is
installed, its own numbers are shown for comparison. The ratio of the rings says what kind of network this is.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import MOST, UsualQuickSuite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.summary import Finding, Row


@dataclass(frozen=True)
class Rings(UsualQuickSuite):
    """The suite ``rings``."""

    def across(self, rows: "Sequence[Row]") -> "list[Finding]":
        """See ``Comparing``: messages and memory over what the cores compute."""
        from ullage.suites.rings.findings import balance_findings

        return balance_findings(rows)


# The quick form: a process a core, six times. What bounds the headline is measured with it.
SUITE = Rings(
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
)
