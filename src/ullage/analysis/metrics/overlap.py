# SPDX-License-Identifier: Apache-2.0
"""Metrics of I/O beside computation: what overlaps, what that costs the computation, and both beside blocking calls.

All times are added over the ranks. They are those of the same batches, with the same calls: ``io_s`` of the I/O alone,
``compute_s`` of the computation alone, ``both_s`` of both at once, ``blocking_s`` of one after the other.
"""

from collections.abc import Callable
from typing import Final

from ullage.analysis.metrics import Metric, metric
from ullage.model.record import PhaseRecord

IO: Final = "io_s"
COMPUTE: Final = "compute_s"
BOTH: Final = "both_s"
BLOCKING: Final = "blocking_s"
_START: Final = "start_s"
_BESIDE: Final = "beside_s"
_BATCHES: Final = "batches"


def _sums(phase: PhaseRecord, *names: str) -> list[float] | None:
    """Return the gauges, each added over the ranks; None where one is missing or not above 0."""
    if BOTH not in phase.gauges:
        return None
    found = [phase.gauges.get(name) for name in names]
    known = [gauge.sum for gauge in found if gauge is not None and gauge.sum > 0]
    return known if len(known) == len(names) else None


def share_that_overlaps(io_s: float, compute_s: float, both_s: float) -> float:
    """Return the part of the shorter of I/O and computation that does not lengthen both together, between 0 and 1."""
    return min(1.0, max(0.0, (io_s + compute_s - both_s) / min(io_s, compute_s)))


@metric("of shorter", "more")
def overlap_share(phase: PhaseRecord) -> float | None:
    """Share of the shorter of I/O and computation that overlaps: (I/O + computation - both) / shorter."""
    found = _sums(phase, IO, COMPUTE, BOTH)
    return None if found is None else share_that_overlaps(*found)


def _ratio(upper: str, lower: str) -> Callable[[PhaseRecord], float | None]:
    def sample(phase: PhaseRecord) -> float | None:
        found = _sums(phase, upper, lower)
        return None if found is None else found[0] / found[1]

    return sample


def _batch(name: str) -> Callable[[PhaseRecord], float | None]:
    """Return the mean time of a batch on a rank."""
    return _ratio(name, _BATCHES)


def _rate(name: str) -> Callable[[PhaseRecord], float | None]:
    """Return the bytes of all ranks over the time of the slowest."""

    def sample(phase: PhaseRecord) -> float | None:
        moved, took = phase.gauges.get("bytes"), phase.gauges.get(name)
        if BOTH not in phase.gauges or moved is None or took is None or took.most <= 0 or moved.sum <= 0:
            return None
        return moved.sum / took.most

    return sample


_BATCH_TIMES: Final = (
    ("batch_io_time", IO, "time of the I/O of a batch alone"),
    ("batch_compute_time", COMPUTE, "time of the computation of a batch alone"),
    ("batch_both_time", BOTH, "time of a batch with both at once"),
    ("batch_blocking_time", BLOCKING, "time of a batch with blocking calls before its computation"),
)

METRICS: Final = (
    Metric(
        "compute_slowdown",
        "x alone",
        "less",
        "time of the computation while I/O goes on over its time alone",
        _ratio(_BESIDE, COMPUTE),
    ),
    Metric(
        "overlap_gain",
        "x",
        "more",
        "time of blocking calls and computation over the time of both at once",
        _ratio(BLOCKING, BOTH),
    ),
    Metric(
        "start_share",
        "of I/O",
        "less",
        "time of the calls that begin transfers over the time of the I/O alone",
        _ratio(_START, IO),
    ),
    *(
        Metric(name, "s", "less", f"{doc}, mean over batches and ranks", _batch(gauge))
        for name, gauge, doc in _BATCH_TIMES
    ),
    Metric(
        "io_alone_rate",
        "B/s",
        "more",
        "bytes of all ranks over the time of the slowest rank's I/O alone",
        _rate(IO),
    ),
)
