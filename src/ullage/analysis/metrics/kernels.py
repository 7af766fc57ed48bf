# SPDX-License-Identifier: Apache-2.0
"""Metrics of work on cores and memory, which is done in windows, and of what others take of its time."""

from typing import Final

from ullage.analysis.metrics import Declared, metric
from ullage.analysis.metrics.arithmetic import WINDOWS, largest, over, rate_of, total
from ullage.model.record import PhaseRecord


@metric("op/s", "more")
def best_compute_rate(phase: PhaseRecord) -> float | None:
    """Arithmetic operations of a window over the time of the shortest one.

    That is what the cores do when nobody disturbs them.
    """
    done, shortest = phase.gauges.get("operations"), phase.gauges.get("shortest_window_s")
    # The operations of the phase are its windows, of all ranks; every window does the same work.
    windows = phase.operations / phase.ranks
    if done is None or shortest is None or shortest.least <= 0 or done.sum <= 0 or windows <= 0:
        return None
    return done.sum / windows / shortest.least


@metric("Hz", "more")
def clock(phase: PhaseRecord) -> float | None:
    """Clock of the cores between the windows of the work, mean over threads.

    Dependent additions around each window tell it, under the very work that was measured. The gauge is 0 where the
    engine has no such chain for this processor.
    """
    found = total("clock_hz")(phase)
    return None if found is None else found / phase.ranks


@metric("of time", "less")
def waited_share(phase: PhaseRecord) -> float | None:
    """Time that ranks waited for a CPU, by the thread of each that waited longest: for others, or for a quota.

    Where windows were timed it is the part of their time, not that of the phase with what lies between them.
    """
    inside, windows = phase.gauges.get("waited_s"), phase.gauges.get(WINDOWS)
    if inside is not None and inside.least >= 0 and windows is not None and windows.most > 0:
        return min(inside.most / windows.most, 1.0)
    waited = None if phase.contamination is None else phase.contamination.run_delay_ppm
    return None if waited is None else min(waited / 1e6, 1.0)


@metric("of time", "less")
def stolen_share(phase: PhaseRecord) -> float | None:
    """Time of the node's CPUs that the hypervisor gave to others."""
    return None if phase.contamination is None else min(max(phase.contamination.steal_ppm, 0) / 1e6, 1.0)


@metric("s", "less")
def access_time(phase: PhaseRecord) -> float | None:
    """Time of the chasing threads over the loads they made.

    With several chains in one thread their loads overlap, and this is the inverse of a rate; a row names its chains.
    Under load one thread chases and the others only disturb: its time goes by a name of its own.
    """
    found = over(total("thread_s"), total("accesses"))(phase)
    return over(total("chase_s"), total("accesses"))(phase) if found is None else found


METRICS: Final[Declared] = {
    ("op/s", "more"): {
        # An FMA and a step of a dot product count 2 a lane; gemm counts 2 n^3, a solve 2/3 n^3 + 3/2 n^2 as HPL does.
        "compute_rate": ("arithmetic operations of all threads over the time of the windows", rate_of("operations")),
        "device_compute_rate": (
            "arithmetic operations of an accelerator's vector units over the host's time of the windows",
            rate_of("device_operations"),
        ),
    },
    ("instr/cycle", "more"): {
        # Loop overhead and loads are not counted.
        "instructions_per_cycle": (
            (
                "arithmetic instructions of all threads over the cycles of all threads, by the clock measured around "
                "each window"
            ),
            over(total("instructions"), total("cycles")),
        )
    },
    ("B/s", "more"): {
        # Bytes as an application counts them (McCalpin's STREAM: what a kernel names, read and written).
        "memory_bandwidth": (
            "bytes that a kernel reads and writes, as STREAM counts them, over the time of its windows",
            rate_of("application_bytes"),
        ),
        # Bytes that memory has to move for a kernel: an ordinary store fetches its line first (write-allocate).
        "bus_bandwidth": (
            (
                "bytes that cross the memory bus for a kernel, lines fetched by ordinary stores among them, over its "
                "windows"
            ),
            rate_of("bus_bytes"),
        ),
        "device_bandwidth": (
            (
                "bytes that a kernel on an accelerator reads and writes in its memory, or that are copied to or from "
                "it, over the host's time of the windows"
            ),
            rate_of("device_bytes"),
        ),
        "device_clock_bandwidth": (
            "the same bytes over the time by the accelerator's own clock",
            over(total("device_bytes"), total("device_s")),
        ),
        "injected_bandwidth": (
            "bytes that the injecting threads moved beside a chase, over the time of the windows",
            rate_of("injected_bytes"),
        ),
    },
    ("update/s", "more"): {
        # HPC Challenge's RandomAccess, whose unit GUPS is 10^9 of these.
        "update_rate": ("random read-modify-write updates of a table over the time of the windows", rate_of("updates"))
    },
    ("s", "less"): {
        "device_launch_time": (
            "time of the windows over the launches of an accelerator's smallest kernel",
            over(total("kernel_s"), total("launches")),
        ),
        "core_round_trip": (
            "time of the windows over the times a cache line went from one core to the other and back",
            over(total("kernel_s"), total("round_trips")),
        ),
        "longest_detour": (
            "longest time in which a thread that did nothing else could not look at the clock",
            largest("longest_detour_s"),
        ),
    },
    # What others take of the time of threads that do fixed work, by quanta of work and by looks at the clock: fixed
    # work quanta (Sottile and Minnich 2004) and selfish detours (Beckman et al. 2006). The clock's own changes are
    # taken out of the first, and told by themselves: a slower clock is no noise.
    ("of time", "less"): {
        "noise_share": (
            "time of fixed work beyond that of its shortest quantum at the same clock, over all of it",
            largest("noise_share"),
        ),
        "worst_noise_share": ("noise_share of the thread that lost most time", largest("worst_noise_share")),
        "turbo_share": (
            "time of fixed work beyond that of its shortest quantum whatever the clock: noise and the clock's changes",
            largest("turbo_share"),
        ),
        "detour_share": (
            "time in detours over the time watched, of all threads",
            over(total("detour_s"), total("watched_s")),
        ),
    },
}
