# SPDX-License-Identifier: Apache-2.0
"""Shared arithmetic of the metrics: counts over nanoseconds, and nanoseconds as seconds."""

from typing import Final

from ullage.model.record import PhaseRecord, Stage

NS_PER_S: Final = 1e9


def per_second(count: int, elapsed_ns: int) -> float | None:
    """None when no time passed or nothing was done: a rate of nothing is no measurement."""
    return count * NS_PER_S / elapsed_ns if elapsed_ns > 0 and count > 0 else None


def seconds(nanoseconds: int | None) -> float | None:
    """None stays None."""
    return None if nanoseconds is None else nanoseconds / NS_PER_S


def stage_span_ns(stage: Stage | None) -> int:
    """First rank's start to last rank's stop; 0 when the stage did not take place."""
    return 0 if stage is None else stage.last_stop_ns - stage.first_start_ns


def longest_of(phase: PhaseRecord, stage: str) -> float | None:
    """Seconds that the slowest rank spent in ``stage``; None when it did not take place."""
    found = phase.stages.get(stage)
    return None if found is None else seconds(found.longest_ns)
