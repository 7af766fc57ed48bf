# SPDX-License-Identifier: Apache-2.0
"""Bytes over transfers and sync, without open and close: what IOzone times (with ``-e`` where there is a sync)."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import per_second
from ullage.model.record import PhaseRecord


def _span_ns(phase: PhaseRecord) -> int:
    """From the first rank's first transfer to the last rank's last, or to the end of its sync; 0 without transfers."""
    transfer, sync = phase.stages.get("transfer"), phase.stages.get("sync")
    if transfer is None:
        return 0
    return max(transfer.last_stop_ns, 0 if sync is None else sync.last_stop_ns) - transfer.first_start_ns


METRIC = Metric(
    "file_bandwidth",
    "B/s",
    "more",
    "bytes over the time from the first rank's first transfer to the last rank's last or to the end of its sync",
    lambda phase: per_second(phase.bytes, _span_ns(phase)),
)
