# SPDX-License-Identifier: Apache-2.0
"""Metrics of a code that writes or reads particles between computations.

Source: h5bench. RAW is bytes over the time of the calls that move data alone. OBSERVED is bytes over the time of the
whole run without the emulated computation, so opening, metadata, sync and closing are in it.
"""

from typing import Final

from ullage.analysis.metrics import Metric, metric
from ullage.model.record import PhaseRecord

_RAW: Final = "raw_s"
_EMULATED: Final = "emulated_s"


def observed_rate(moved_bytes: float, completion_s: float, emulated_s: float) -> float | None:
    """Return bytes/s over ``completion_s`` without ``emulated_s``; None where no time is left."""
    left_s = completion_s - emulated_s
    return moved_bytes / left_s if moved_bytes > 0 and left_s > 0 else None


def _raw_time(phase: PhaseRecord) -> float | None:
    found = phase.gauges.get(_RAW)
    return None if found is None or found.most <= 0 else found.most


def _raw(phase: PhaseRecord) -> float | None:
    raw_s = _raw_time(phase)
    return None if raw_s is None or phase.bytes <= 0 else phase.bytes / raw_s


@metric("B/s", "more")
def observed_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes over the time of the phase without the emulated computation (OBSERVED)."""
    emulated = phase.facts.get(_EMULATED)
    if not isinstance(emulated, (int, float)) or _RAW not in phase.gauges:
        return None
    return observed_rate(phase.bytes, phase.elapsed_ns / 1e9, float(emulated))


METRICS: Final = (
    Metric("raw_time", "s", "less", "time that the slowest rank spent in the calls that move particles", _raw_time),
    Metric("raw_bandwidth", "B/s", "more", "bytes over the time of the calls that move particles (RAW)", _raw),
)
