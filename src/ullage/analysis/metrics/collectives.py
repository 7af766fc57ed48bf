# SPDX-License-Identifier: Apache-2.0
"""Collective and one-sided operations of MPI: time of a call, bytes on a link, what hides behind computation."""

from typing import Final

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.windows import time_each
from ullage.model.record import PhaseRecord

COLLECTIVE: Final = "collective"
ONE_SIDED: Final = "one-sided"


def _mean_time(phase: PhaseRecord) -> float | None:
    return time_each(phase, "call_s", "calls") if phase.phase == COLLECTIVE else None


def _over(phase: PhaseRecord, amount: str, seconds: str) -> float | None:
    """Both the largest over the ranks; None where either is unsaid or 0."""
    done, took = phase.gauges.get(amount), phase.gauges.get(seconds)
    if done is None or took is None or done.most <= 0 or took.most <= 0:
        return None
    return done.most / took.most


def _slowest_time(phase: PhaseRecord) -> float | None:
    rate = _over(phase, "calls", "call_s") if phase.phase == COLLECTIVE else None
    return None if rate is None else 1 / rate


def _link_rate(phase: PhaseRecord) -> float | None:
    return _over(phase, "link_bytes", "call_s") if phase.phase == COLLECTIVE else None


def _overlap(phase: PhaseRecord) -> float | None:
    found = [phase.gauges.get(name) for name in ("call_s", "compute_s", "overall_s")]
    call, compute, overall = (None if gauge is None else gauge.sum for gauge in found)
    if call is None or compute is None or overall is None or call <= 0:
        return None
    return min(1.0, max(0.0, 1 - (overall - compute) / call))


def _one_sided_time(phase: PhaseRecord) -> float | None:
    return time_each(phase, "elapsed_s", "operations") if phase.phase == ONE_SIDED else None


def _one_sided_rate(phase: PhaseRecord) -> float | None:
    took = phase.gauges.get("most_elapsed_s")
    if phase.phase != ONE_SIDED or took is None or took.most <= 0 or phase.bytes <= 0:
        return None
    return phase.bytes / took.most


METRICS = (
    Metric("collective_latency", "s", "less", "time of a call, mean over calls and ranks, as OSU has it", _mean_time),
    Metric("collective_latency_slowest", "s", "less", "the same of the rank that took longest", _slowest_time),
    Metric(
        "link_bandwidth",
        "B/s",
        "more",
        "bytes that have to cross a rank's link, as nccl-tests count them (busbw), over the slowest rank's time",
        _link_rate,
    ),
    Metric(
        "overlap",
        "of call",
        "more",
        "share of the nonblocking operation's own time that hides behind computation: 1 - (both - computation) / "
        "operation, as OSU has it, by times added over the ranks",
        _overlap,
    ),
    Metric(
        "one_sided_latency",
        "s",
        "less",
        "time of the origins over the operations, what ends them included",
        _one_sided_time,
    ),
    Metric(
        "one_sided_bandwidth",
        "B/s",
        "more",
        "bytes of all origins over the time of the slowest",
        _one_sided_rate,
    ),
)
