# SPDX-License-Identifier: Apache-2.0
"""Messages of a few ranks, alone or beside others that fill the network: mean and tail of the victims' histogram."""

from typing import Final

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import NS_PER_S
from ullage.model.record import Latency, PhaseRecord

ISOLATED: Final = "isolated"
CONGESTED: Final = "congested"


def state_of(phase: PhaseRecord) -> tuple[str, str] | None:
    """Test and state; None of a phase of other work."""
    test, _, state = phase.phase.rpartition("-")
    return (test, state) if test and state in (ISOLATED, CONGESTED) else None


def _histogram(phase: PhaseRecord) -> Latency | None:
    if state_of(phase) is None or phase.latency is None or phase.latency.operations == 0:
        return None
    return phase.latency


def _mean(phase: PhaseRecord) -> float | None:
    found = _histogram(phase)
    return None if found is None else found.sum_ns / NS_PER_S / found.operations


def _tail(phase: PhaseRecord) -> float | None:
    found = _histogram(phase)
    return None if found is None else found.p99_ns / NS_PER_S


def _rate(phase: PhaseRecord) -> float | None:
    mean, size = _mean(phase), phase.gauges.get("operation_bytes")
    return size.most / mean if mean and size is not None and phase.phase.startswith("bandwidth-") else None


METRICS = (
    Metric("congestion_time", "s", "less", "time of one exchange or allreduce of the victims, mean", _mean),
    Metric("congestion_time_p99", "s", "less", "time that 99 of 100 of them stayed below", _tail),
    Metric(
        "congestion_bandwidth", "B/s", "more", "bytes that a victim sends over the mean time of its exchanges", _rate
    ),
)
