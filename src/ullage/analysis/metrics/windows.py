# SPDX-License-Identifier: Apache-2.0
"""Shared arithmetic of metrics of work in windows: gauges over the time of all windows."""

from typing import Final

from ullage.model.record import PhaseRecord

WINDOWS: Final = "kernel_s"


def rate_of(phase: PhaseRecord, amount: str) -> float | None:
    """The gauge ``amount`` added over the ranks, over the longest time of a rank's windows; None where unsaid or 0."""
    done, took = phase.gauges.get(amount), phase.gauges.get(WINDOWS)
    if done is None or took is None or took.most <= 0 or done.sum <= 0:
        return None
    return done.sum / took.most


def time_each(phase: PhaseRecord, seconds: str, count: str) -> float | None:
    """The gauge ``seconds`` over the gauge ``count``, both added over the ranks; None where either is unsaid or 0."""
    took, done = phase.gauges.get(seconds), phase.gauges.get(count)
    if took is None or done is None or took.sum <= 0 or done.sum <= 0:
        return None
    return took.sum / done.sum
