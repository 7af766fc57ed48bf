# SPDX-License-Identifier: Apache-2.0
"""Metrics of work on cores and memory, which is done in windows, and of what others take of its time."""

from typing import Final

from ullage.analysis.metrics import Metric, metric
from ullage.analysis.metrics.arithmetic import rate_of, time_each
from ullage.model.record import PhaseRecord


@metric("op/s", "more")
def best_compute_rate(phase: PhaseRecord) -> float | None:
    """Arithmetic operations of a window over the time of the shortest one."""
    # Arithmetic operations of one window over the time of the shortest: what the cores do when nobody disturbs them.
    done, shortest = phase.gauges.get("operations"), phase.gauges.get("shortest_window_s")
    # The operations of the phase are its windows, of all ranks; every window does the same work.
    windows = phase.operations / phase.ranks
    if done is None or shortest is None or shortest.least <= 0 or done.sum <= 0 or windows <= 0:
        return None
    return done.sum / windows / shortest.least


def _clock(phase: PhaseRecord) -> float | None:
    found = phase.gauges.get("clock_hz")
    # The gauge is added over the ranks, and is 0 where the engine has no such chain for this processor.
    return found.sum / phase.ranks if found is not None and found.sum > 0 else None


@metric("instr/cycle", "more")
def instructions_per_cycle(phase: PhaseRecord) -> float | None:
    """Arithmetic instructions of all threads over the cycles of all threads, by the clock measured around each
    window.
    """
    # Arithmetic instructions of a kernel a cycle of each core: loop overhead and loads are not counted.
    instructions, cycles = phase.gauges.get("instructions"), phase.gauges.get("cycles")
    if instructions is None or cycles is None or instructions.sum <= 0 or cycles.sum <= 0:
        return None
    return instructions.sum / cycles.sum


def _access_time(phase: PhaseRecord) -> float | None:
    # Under load one thread chases and the others only disturb: its time goes by a name of its own.
    found = time_each(phase, "thread_s", "accesses")
    return time_each(phase, "chase_s", "accesses") if found is None else found


# -- noise -------------------------------------------------------------------------------------------------------------
# These metrics tell what others take of the time of threads that do fixed work, by quanta of work and by looks at the
# clock. The methods are fixed work quanta (Sottile and Minnich 2004) and selfish detours (Beckman et al. 2006). The
# clock's own changes are taken out of the first, and told by themselves: a slower clock is no noise.

_SHARE: Final = "of time"


def _most(phase: PhaseRecord, name: str) -> float | None:
    gauge = phase.gauges.get(name)
    return None if gauge is None else gauge.most


def _detour_share(phase: PhaseRecord) -> float | None:
    return time_each(phase, "detour_s", "watched_s")


_NOISE: Final = (
    Metric(
        "noise_share",
        _SHARE,
        "less",
        "time of fixed work beyond that of its shortest quantum at the same clock, over all of it",
        lambda phase: _most(phase, "noise_share"),
    ),
    Metric(
        "worst_noise_share",
        _SHARE,
        "less",
        "noise_share of the thread that lost most time",
        lambda phase: _most(phase, "worst_noise_share"),
    ),
    Metric(
        "turbo_share",
        _SHARE,
        "less",
        "time of fixed work beyond that of its shortest quantum whatever the clock: noise and the clock's changes",
        lambda phase: _most(phase, "turbo_share"),
    ),
    Metric("detour_share", _SHARE, "less", "time in detours over the time watched, of all threads", _detour_share),
    Metric(
        "longest_detour",
        "s",
        "less",
        "longest time in which a thread that did nothing else could not look at the clock",
        lambda phase: _most(phase, "longest_detour_s"),
    ),
)

METRICS: Final = (
    # Arithmetic operations over the time of the windows, all threads together. An FMA and a step of a dot product
    # count 2 a lane; gemm counts 2 n^3, a solve 2/3 n^3 + 3/2 n^2 as HPL does.
    Metric(
        "compute_rate",
        "op/s",
        "more",
        "arithmetic operations of all threads over the time of the windows",
        lambda phase: rate_of(phase, "operations"),
    ),
    # Clock of the cores under the very work that was measured, by dependent additions around each window.
    Metric("clock", "Hz", "more", "clock of the cores between the windows of the work, mean over threads", _clock),
    # Bytes as an application counts them (McCalpin's STREAM: what a kernel names, read and written) over the windows.
    Metric(
        "memory_bandwidth",
        "B/s",
        "more",
        "bytes that a kernel reads and writes, as STREAM counts them, over the time of its windows",
        lambda phase: rate_of(phase, "application_bytes"),
    ),
    # Bytes that memory has to move for a kernel: an ordinary store fetches its line first (write-allocate).
    Metric(
        "bus_bandwidth",
        "B/s",
        "more",
        "bytes that cross the memory bus for a kernel, lines fetched by ordinary stores among them, over its windows",
        lambda phase: rate_of(phase, "bus_bytes"),
    ),
    # Random updates of a table a second: HPC Challenge's RandomAccess, whose unit GUPS is 10^9 of these.
    Metric(
        "update_rate",
        "update/s",
        "more",
        "random read-modify-write updates of a table over the time of the windows",
        lambda phase: rate_of(phase, "updates"),
    ),
    # Time of one dependent load: what the chasing threads needed, added up, over the loads they made. With several
    # chains in one thread their loads overlap, and this is the inverse of a rate; a row names its chains.
    Metric("access_time", "s", "less", "time of the chasing threads over the loads they made", _access_time),
    # Bytes that other threads moved while a chase was timed.
    Metric(
        "injected_bandwidth",
        "B/s",
        "more",
        "bytes that the injecting threads moved beside a chase, over the time of the windows",
        lambda phase: rate_of(phase, "injected_bytes"),
    ),
    # Time for a cache line to go from one core to another and back.
    Metric(
        "core_round_trip",
        "s",
        "less",
        "time of the windows over the times a cache line went from one core to the other and back",
        lambda phase: time_each(phase, "kernel_s", "round_trips"),
    ),
    *_NOISE,
)
