# SPDX-License-Identifier: Apache-2.0
"""Metrics of files of many arrays: the arrays that describe the blocks and the unknowns apart, and the original's rate.

Source: the FLASH I/O benchmark's own rate is all bytes over the sum of the slowest ranks' times for header, unknowns
and close; ours also counts the sync.
"""

from collections.abc import Callable
from typing import Final

from ullage.analysis.metrics import Metric, metric
from ullage.analysis.metrics.arithmetic import longest_of
from ullage.model.record import PhaseRecord

_METADATA: Final = "metadata_s"
_UNKNOWNS: Final = "unknowns_s"


def _longest(gauge: str) -> Callable[[PhaseRecord], float | None]:
    def sample(phase: PhaseRecord) -> float | None:
        found = phase.gauges.get(gauge)
        return None if found is None or found.most <= 0 else found.most

    return sample


@metric("B/s", "more")
def flash_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes over the sum of the slowest ranks' times for header, unknowns, sync and close."""
    parts = [_longest(_METADATA)(phase), _longest(_UNKNOWNS)(phase)]
    if None in parts or phase.bytes <= 0:
        return None
    stages = (longest_of(phase, stage) for stage in ("open", "sync", "close"))
    total = sum(part for part in (*parts, *stages) if part is not None)
    return phase.bytes / total if total > 0 else None


METRICS: Final = (
    Metric(
        "metadata_time",
        "s",
        "less",
        "time that the slowest rank spent on the arrays that describe the blocks",
        _longest(_METADATA),
    ),
    Metric("unknowns_time", "s", "less", "time that the slowest rank spent on the unknowns", _longest(_UNKNOWNS)),
)
