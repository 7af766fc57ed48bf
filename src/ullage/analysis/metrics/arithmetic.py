# SPDX-License-Identifier: Apache-2.0
"""Shared arithmetic of the metrics: counts over nanoseconds, and samples of gauges, stages and parts of operations.

Such a sample is None where the record has no such thing, and where nothing was done or no time passed: a rate of
nothing is no measurement.
"""

from typing import Final

from ullage.analysis.metrics import Sample
from ullage.model.record import PhaseRecord, Stage

NS_PER_S: Final = 1e9
WINDOWS: Final = "kernel_s"
"""Names the gauge with the time of all windows of work that is done in windows."""


def per_second(count: int, elapsed_ns: int) -> float | None:
    """Return the rate, or None when no time passed or nothing was done."""
    return count * NS_PER_S / elapsed_ns if elapsed_ns > 0 and count > 0 else None


def seconds(nanoseconds: int | None) -> float | None:
    """Convert nanoseconds to seconds; None stays None."""
    return None if nanoseconds is None else nanoseconds / NS_PER_S


def stage_span_ns(stage: Stage | None) -> int:
    """Return the time from the first rank's start to the last rank's stop; 0 when the stage did not take place."""
    return 0 if stage is None else stage.last_stop_ns - stage.first_start_ns


def largest(gauge: str) -> Sample:
    """Sample what the rank with the largest value of ``gauge`` has, be it 0."""
    return lambda phase: None if (found := phase.gauges.get(gauge)) is None else found.most


def most(gauge: str) -> Sample:
    """Sample as ``largest`` does, if it is above 0."""
    return lambda phase: found.most if (found := phase.gauges.get(gauge)) is not None and found.most > 0 else None


def total(gauge: str) -> Sample:
    """Sample a gauge added over the ranks, if it is above 0."""
    return lambda phase: found.sum if (found := phase.gauges.get(gauge)) is not None and found.sum > 0 else None


def over(upper: Sample, lower: Sample) -> Sample:
    """Divide one sample by another."""

    def sample(phase: PhaseRecord) -> float | None:
        above, below = upper(phase), lower(phase)
        return None if above is None or below is None or below <= 0 else above / below

    return sample


def rate_of(amount: str) -> Sample:
    """Divide the gauge ``amount``, added over the ranks, by the longest time of a rank's windows."""
    return over(total(amount), most(WINDOWS))


def bytes_over(time: Sample) -> Sample:
    """Divide the bytes of the phase by a time in s."""
    return over(lambda phase: phase.bytes if phase.bytes > 0 else None, time)


def having(gauge: str, sample: Sample) -> Sample:
    """Sample phases of the work that has ``gauge``, whose other gauges may be named like those of other work."""
    return lambda phase: sample(phase) if gauge in phase.gauges else None


def counted(counter: str) -> Sample:
    """Sample the rate of a counter over the whole phase."""
    return lambda phase: per_second(phase.counters.get(counter, 0), phase.elapsed_ns)


def longest(stage: str) -> Sample:
    """Sample the seconds that the slowest rank spent in ``stage``."""
    return lambda phase: None if (found := phase.stages.get(stage)) is None else seconds(found.longest_ns)


def part(name: str, field: str = "p50_ns") -> Sample:
    """Sample the seconds of one part of the operations: their median, or what ``field`` of its histogram says."""

    def sample(phase: PhaseRecord) -> float | None:
        found = phase.latency_parts.get(name)
        return None if found is None or found.operations == 0 else seconds(getattr(found, field))

    return sample
