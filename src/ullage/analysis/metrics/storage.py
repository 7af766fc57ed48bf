# SPDX-License-Identifier: Apache-2.0
"""Metrics of work on storage: bytes and operations over the phase or its stages, and how long operations took.

Percentiles of several repetitions stay one sample a repetition: merging them would hide a slow repetition.
"""

from typing import Final

from ullage.analysis.metrics import Metric, metric
from ullage.analysis.metrics.arithmetic import longest_of, per_second, seconds, stage_span_ns
from ullage.model.record import PhaseRecord

_MIB: Final = 1 << 20


def _stonewall_bandwidth(phase: PhaseRecord) -> float | None:
    if phase.stonewall is None:
        return None
    return per_second(phase.stonewall.at_wall.bytes, phase.stonewall.at_wall.elapsed_ns)


def _file_span_ns(phase: PhaseRecord) -> int:
    """Return the time from the first rank's first transfer to the last rank's last, or to the end of its sync.

    It is 0 without transfers.
    """
    transfer, sync = phase.stages.get("transfer"), phase.stages.get("sync")
    if transfer is None:
        return 0
    return max(transfer.last_stop_ns, 0 if sync is None else sync.last_stop_ns) - transfer.first_start_ns


@metric("s", "less")
def fastest_rank_time(phase: PhaseRecord) -> float | None:
    """Time from its open to its close, sync included, of the rank that needed least."""
    # How unequal the ranks were: both from a rank's own open to its own close.
    return None if phase.by_rank is None else seconds(phase.by_rank.fastest.elapsed_ns)


@metric("s", "less")
def mean_rank_time(phase: PhaseRecord) -> float | None:
    """Mean of the ranks' times, each from its open to its close, sync included."""
    if phase.by_rank is None or phase.by_rank.mean_ns is None:
        return None
    return seconds(phase.by_rank.mean_ns)


@metric("s", "less")
def slowest_rank_time(phase: PhaseRecord) -> float | None:
    """Time from its open to its close, sync included, of the rank that needed most."""
    if phase.by_rank is None or not phase.by_rank.slowest:
        return None
    return seconds(phase.by_rank.slowest[0].elapsed_ns)


@metric("B/s", "more")
def least_rank_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of the rank that needed most time, over that time."""
    if phase.by_rank is None or not phase.by_rank.slowest:
        return None
    slowest = phase.by_rank.slowest[0]
    return per_second(slowest.bytes, slowest.elapsed_ns)


@metric("op/s", "more")
def stonewall_operation_rate(phase: PhaseRecord) -> float | None:
    """Operations done at the stonewall over the time to it."""
    # Operations done when the time of a phase was up; only phases with a stonewall have it.
    if phase.stonewall is None:
        return None
    return per_second(phase.stonewall.at_wall.operations, phase.stonewall.at_wall.elapsed_ns)


@metric("s/op", "less")
def cpu_time(phase: PhaseRecord) -> float | None:
    """User and system time of all ranks over the operations of the phase."""
    # Processor time an operation costs the ranks: what is left for the application while it does I/O.
    return phase.cpu_ns / phase.operations / 1e9 if phase.operations and phase.cpu_ns else None


def _page_faults(phase: PhaseRecord) -> float | None:
    """Return the page faults of all ranks for each MiB moved; None for records without a count, and without bytes."""
    if phase.minor_faults is None or phase.bytes <= 0:
        return None
    return (phase.minor_faults + (phase.major_faults or 0)) * _MIB / phase.bytes


def _latency(name: str, field: str, doc: str) -> Metric:
    def sample(phase: PhaseRecord) -> float | None:
        if phase.latency is None or phase.latency.operations == 0:
            return None
        return seconds(getattr(phase.latency, field))

    return Metric(name, "s", "less", doc, sample)


_LATENCIES: Final = (
    _latency("latency_p50", "p50_ns", "time that half of the operations stayed below"),
    _latency("latency_p95", "p95_ns", "time that 95 of 100 operations stayed below"),
    _latency("latency_p99", "p99_ns", "time that 99 of 100 operations stayed below"),
    _latency("latency_p999", "p999_ns", "time that 999 of 1000 operations stayed below"),
    _latency("latency_max", "max_ns", "time of the slowest operation"),
)


# -- patterns of b_eff_io: over the accounted time, in which the sync is, and over the calls alone ---------------------


@metric("B/s", "more")
def call_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of all processes over the time of the calls of a pattern, without its sync.

    Return bytes over the time without sync; None without a sync, where it would be ``pattern_bandwidth`` again.
    """
    synced_s = _gauge_s(phase, "sync_s")
    return _bytes_over(phase, _gauge_s(phase, "pattern_s") - synced_s) if synced_s > 0 else None


def _gauge_s(phase: PhaseRecord, gauge: str) -> float:
    found = phase.gauges.get(gauge)
    return 0.0 if found is None else found.most


def _bytes_over(phase: PhaseRecord, seconds: float) -> float | None:
    return phase.bytes / seconds if phase.bytes > 0 and seconds > 0 else None


_PATTERNS: Final = (
    Metric(
        "pattern_bandwidth",
        "B/s",
        "more",
        "bytes of all processes over the accounted time of a pattern: calls, barriers between them and sync",
        lambda phase: _bytes_over(phase, _gauge_s(phase, "pattern_s")),
    ),
)

METRICS: Final = (
    # Bytes over the whole phase, from the first rank's open to the last rank's close: what an application waits for.
    Metric(
        "bandwidth",
        "B/s",
        "more",
        "bytes over the time from the first rank's open to the last rank's close",
        lambda phase: per_second(phase.bytes, phase.elapsed_ns),
    ),
    # Bytes done while every rank was still at work: the rate without stragglers.
    Metric(
        "first_done_bandwidth",
        "B/s",
        "more",
        "bytes done when the first rank had finished, over the time to that instant",
        lambda phase: per_second(phase.first_done.bytes, phase.first_done.elapsed_ns),
    ),
    # Bytes done when the time of a phase was up; only phases with a stonewall have it.
    Metric(
        "stonewall_bandwidth", "B/s", "more", "bytes done at the stonewall over the time to it", _stonewall_bandwidth
    ),
    # Bytes over the transfers alone, without open, sync and close.
    Metric(
        "transfer_bandwidth",
        "B/s",
        "more",
        "bytes over the time from the first rank's first transfer to the last rank's last",
        lambda phase: per_second(phase.bytes, stage_span_ns(phase.stages.get("transfer"))),
    ),
    # Bytes over transfers and sync, without open and close: what IOzone times (with ``-e`` where there is a sync).
    Metric(
        "file_bandwidth",
        "B/s",
        "more",
        "bytes over the time from the first rank's first transfer to the last rank's last or to the end of its sync",
        lambda phase: per_second(phase.bytes, _file_span_ns(phase)),
    ),
    Metric(
        "operation_rate",
        "op/s",
        "more",
        "operations over the time from the first rank's open to the last rank's close",
        lambda phase: per_second(phase.operations, phase.elapsed_ns),
    ),
    Metric(
        "open_time", "s", "less", "time that the slowest rank spent in open", lambda phase: longest_of(phase, "open")
    ),
    Metric(
        "sync_time", "s", "less", "time that the slowest rank spent in sync", lambda phase: longest_of(phase, "sync")
    ),
    Metric(
        "close_time", "s", "less", "time that the slowest rank spent in close", lambda phase: longest_of(phase, "close")
    ),
    # What a mapping costs besides its copies: 256 with a fault for each page of 4 KiB, 0.5 with huge pages.
    Metric("page_faults", "faults/MiB", "less", "page faults of all ranks for each MiB moved", _page_faults),
    *_LATENCIES,
    *_PATTERNS,
)
