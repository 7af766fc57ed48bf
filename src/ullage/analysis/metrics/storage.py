# SPDX-License-Identifier: Apache-2.0
"""Metrics of work on storage: bytes and operations over the phase or its stages, and how long operations took.

Percentiles of several repetitions stay one sample a repetition: merging them would hide a slow repetition.
"""

from typing import Final

from ullage.analysis.metrics import Declared, Sample, metric
from ullage.analysis.metrics.arithmetic import bytes_over, longest, most, per_second, seconds, stage_span_ns
from ullage.model.record import PhaseRecord

_MIB: Final = 1 << 20


def _file_span_ns(phase: PhaseRecord) -> int:
    """Return the time from the first rank's first transfer to the last rank's last, or to the end of its sync.

    It is 0 without transfers.
    """
    transfer, sync = phase.stages.get("transfer"), phase.stages.get("sync")
    if transfer is None:
        return 0
    return max(transfer.last_stop_ns, 0 if sync is None else sync.last_stop_ns) - transfer.first_start_ns


@metric("B/s", "more")
def least_rank_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of the rank that needed most time, over that time."""
    if phase.by_rank is None or not phase.by_rank.slowest:
        return None
    slowest = phase.by_rank.slowest[0]
    return per_second(slowest.bytes, slowest.elapsed_ns)


def _at_wall(field: str) -> Sample:
    """Sample what was done when the time of a phase was up; only phases with a stonewall have it."""

    def sample(phase: PhaseRecord) -> float | None:
        wall = phase.stonewall and phase.stonewall.at_wall
        return None if wall is None else per_second(getattr(wall, field), wall.elapsed_ns)

    return sample


@metric("faults/MiB", "less")
def page_faults(phase: PhaseRecord) -> float | None:
    """Page faults of all ranks for each MiB moved.

    What a mapping costs besides its copies: 256 with a fault for each page of 4 KiB, 0.5 with huge pages.
    """
    if phase.minor_faults is None or phase.bytes <= 0:
        return None
    return (phase.minor_faults + (phase.major_faults or 0)) * _MIB / phase.bytes


def _latency(field: str) -> Sample:
    def sample(phase: PhaseRecord) -> float | None:
        if phase.latency is None or phase.latency.operations == 0:
            return None
        return seconds(getattr(phase.latency, field))

    return sample


@metric("B/s", "more")
def call_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of all processes over the time of the calls of a pattern, without its sync.

    None without a sync, where it would be ``pattern_bandwidth`` again.
    """
    pattern_s, synced_s = most("pattern_s")(phase), most("sync_s")(phase)
    return None if synced_s is None else bytes_over(lambda _phase: (pattern_s or 0.0) - synced_s)(phase)


METRICS: Final[Declared] = {
    ("B/s", "more"): {
        # What an application waits for.
        "bandwidth": (
            "bytes over the time from the first rank's open to the last rank's close",
            lambda phase: per_second(phase.bytes, phase.elapsed_ns),
        ),
        # Bytes done while every rank was still at work: the rate without stragglers.
        "first_done_bandwidth": (
            "bytes done when the first rank had finished, over the time to that instant",
            lambda phase: per_second(phase.first_done.bytes, phase.first_done.elapsed_ns),
        ),
        "stonewall_bandwidth": ("bytes done at the stonewall over the time to it", _at_wall("bytes")),
        # Without open, sync and close.
        "transfer_bandwidth": (
            "bytes over the time from the first rank's first transfer to the last rank's last",
            lambda phase: per_second(phase.bytes, stage_span_ns(phase.stages.get("transfer"))),
        ),
        # Without open and close: what IOzone times (with ``-e`` where there is a sync).
        "file_bandwidth": (
            (
                "bytes over the time from the first rank's first transfer to the last rank's last or to the end of "
                "its sync"
            ),
            lambda phase: per_second(phase.bytes, _file_span_ns(phase)),
        ),
        "pattern_bandwidth": (
            "bytes of all processes over the accounted time of a pattern: calls, barriers between them and sync",
            bytes_over(most("pattern_s")),
        ),
    },
    ("op/s", "more"): {
        "operation_rate": (
            "operations over the time from the first rank's open to the last rank's close",
            lambda phase: per_second(phase.operations, phase.elapsed_ns),
        ),
        "stonewall_operation_rate": ("operations done at the stonewall over the time to it", _at_wall("operations")),
        # None without a sync, where it would nearly be ``operation_rate`` again.
        "unsynced_operation_rate": (
            "operations over the time from the first rank's first operation to the last rank's last, without the sync",
            lambda phase: (
                per_second(phase.operations, stage_span_ns(phase.stages.get("transfer")))
                if "sync" in phase.stages
                else None
            ),
        ),
    },
    ("s/op", "less"): {
        # What is left of the processors for the application while it does I/O.
        "cpu_time": (
            "user and system time of all ranks over the operations of the phase",
            lambda phase: phase.cpu_ns / phase.operations / 1e9 if phase.operations and phase.cpu_ns else None,
        )
    },
    ("s", "less"): {
        "open_time": ("time that the slowest rank spent in open", longest("open")),
        "sync_time": ("time that the slowest rank spent in sync", longest("sync")),
        "close_time": ("time that the slowest rank spent in close", longest("close")),
        # How unequal the ranks were: each from its own open to its own close.
        "fastest_rank_time": (
            "time from its open to its close, sync included, of the rank that needed least",
            lambda phase: None if phase.by_rank is None else seconds(phase.by_rank.fastest.elapsed_ns),
        ),
        "mean_rank_time": (
            "mean of the ranks' times, each from its open to its close, sync included",
            lambda phase: None if phase.by_rank is None else seconds(phase.by_rank.mean_ns),
        ),
        "slowest_rank_time": (
            "time from its open to its close, sync included, of the rank that needed most",
            lambda phase: (
                seconds(phase.by_rank.slowest[0].elapsed_ns) if phase.by_rank and phase.by_rank.slowest else None
            ),
        ),
        "latency_p50": ("time that half of the operations stayed below", _latency("p50_ns")),
        "latency_p95": ("time that 95 of 100 operations stayed below", _latency("p95_ns")),
        "latency_p99": ("time that 99 of 100 operations stayed below", _latency("p99_ns")),
        "latency_p999": ("time that 999 of 1000 operations stayed below", _latency("p999_ns")),
        "latency_max": ("time of the slowest operation", _latency("max_ns")),
    },
}
