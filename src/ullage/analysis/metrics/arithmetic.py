# SPDX-License-Identifier: Apache-2.0
"""Shared arithmetic of the metrics: counts over nanoseconds, and gauges over the time of windows."""

from typing import Final

from ullage.model.record import PhaseRecord, Stage

NS_PER_S: Final = 1e9
WINDOWS: Final = "kernel_s"
"""Names the gauge with the time of all windows of work that is done in windows."""


def per_second(count: int, elapsed_ns: int) -> float | None:
    """Return the rate, or None when no time passed or nothing was done: a rate of nothing is no measurement."""
    return count * NS_PER_S / elapsed_ns if elapsed_ns > 0 and count > 0 else None


def seconds(nanoseconds: int | None) -> float | None:
    """Convert nanoseconds to seconds; None stays None."""
    return None if nanoseconds is None else nanoseconds / NS_PER_S


def stage_span_ns(stage: Stage | None) -> int:
    """Return the time from the first rank's start to the last rank's stop; 0 when the stage did not take place."""
    return 0 if stage is None else stage.last_stop_ns - stage.first_start_ns


def longest_of(phase: PhaseRecord, stage: str) -> float | None:
    """Return the seconds that the slowest rank spent in ``stage``; None when it did not take place."""
    found = phase.stages.get(stage)
    return None if found is None else seconds(found.longest_ns)


def rate_of(phase: PhaseRecord, amount: str) -> float | None:
    """Divide the gauge ``amount``, added over the ranks, by the longest time of a rank's windows.

    Return None where either is missing or not above 0.
    """
    done, took = phase.gauges.get(amount), phase.gauges.get(WINDOWS)
    if done is None or took is None or took.most <= 0 or done.sum <= 0:
        return None
    return done.sum / took.most


def time_each(phase: PhaseRecord, seconds: str, count: str) -> float | None:
    """Divide the gauge ``seconds`` by the gauge ``count``, both added over the ranks.

    Return None where either is missing or not above 0.
    """
    took, done = phase.gauges.get(seconds), phase.gauges.get(count)
    if took is None or done is None or took.sum <= 0 or done.sum <= 0:
        return None
    return took.sum / done.sum
