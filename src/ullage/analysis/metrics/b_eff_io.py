# SPDX-License-Identifier: Apache-2.0
"""Bandwidths of a pattern of b_eff_io: over its accounted time, in which the sync is, and over its calls alone."""

from ullage.analysis.metrics import Metric
from ullage.model.record import PhaseRecord


def _over_all(phase: PhaseRecord) -> float | None:
    return _rate(phase, _seconds(phase, "pattern_s"))


def _over_calls(phase: PhaseRecord) -> float | None:
    """Only where there was a sync: else it is the same."""
    synced_s = _seconds(phase, "sync_s")
    return _rate(phase, _seconds(phase, "pattern_s") - synced_s) if synced_s > 0 else None


def _seconds(phase: PhaseRecord, gauge: str) -> float:
    found = phase.gauges.get(gauge)
    return 0.0 if found is None else found.most


def _rate(phase: PhaseRecord, seconds: float) -> float | None:
    return phase.bytes / seconds if phase.bytes > 0 and seconds > 0 else None


METRICS = (
    Metric(
        "pattern_bandwidth",
        "B/s",
        "more",
        "bytes of all processes over the accounted time of a pattern: calls, barriers between them and sync",
        _over_all,
    ),
    Metric("call_bandwidth", "B/s", "more", "the same without the time of the sync", _over_calls),
)
