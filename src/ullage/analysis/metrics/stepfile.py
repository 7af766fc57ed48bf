# SPDX-License-Identifier: Apache-2.0
"""Metrics of a simulation that keeps its states: what of its time was no computation, and what a state takes."""

from collections.abc import Callable
from typing import Final

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import per_second, seconds
from ullage.model.record import PhaseRecord

_COMPUTE: Final = "compute_s"
_TURN_ROUND: Final = "turn_round_s"
_EXPOSED: Final = "exposed"


def exposed_s(phase: PhaseRecord) -> float | None:
    """Return the time of the phase beyond the computation of the rank that computed longest."""
    computed = phase.gauges.get(_COMPUTE)
    return None if computed is None else max(0.0, phase.elapsed_ns / 1e9 - computed.most)


def io_seconds_of_a_state(phase: PhaseRecord) -> float | None:
    """Return the mean time of all calls for one state on one rank, whether the rank waited for them or not."""
    parts = [phase.latency_parts.get(part) for part in ("open", "transfer", "sync", "close", "remove")]
    known = [part for part in parts if part is not None and part.operations > 0]
    states = phase.counters.get("states", 0)
    return sum(part.sum_ns for part in known) / states / 1e9 if known and states else None


def _part(part: str, field: str) -> Callable[[PhaseRecord], float | None]:
    def sample(phase: PhaseRecord) -> float | None:
        found = phase.latency_parts.get(part)
        if found is None or found.operations == 0:
            return None
        return seconds(getattr(found, field))

    return sample


def _turn_round(phase: PhaseRecord) -> float | None:
    found = phase.gauges.get(_TURN_ROUND)
    return None if found is None else found.most


def _state_rate(phase: PhaseRecord) -> float | None:
    return per_second(phase.counters.get("states", 0), phase.elapsed_ns) if _COMPUTE in phase.gauges else None


METRICS: Final = (
    Metric(
        "phase_time",
        "s",
        "less",
        "time from the first rank's open to the last rank's close",
        lambda phase: seconds(phase.elapsed_ns) if phase.elapsed_ns else None,
    ),
    Metric(
        "exposed_io",
        "s",
        "less",
        "time of the phase beyond the computation of the rank that computed longest",
        exposed_s,
    ),
    Metric(
        "turn_round",
        "s",
        "less",
        "longest time of a rank from its last computation forward to the first state that its adjoint reads",
        _turn_round,
    ),
    Metric("state_rate", "op/s", "more", "states written or read over the time of the phase", _state_rate),
    Metric(
        "exposed_step_p50",
        "s",
        "less",
        "time without computation that half of the steps stayed below",
        _part(_EXPOSED, "p50_ns"),
    ),
    Metric(
        "exposed_step_p99",
        "s",
        "less",
        "time without computation that 99 of 100 steps stayed below",
        _part(_EXPOSED, "p99_ns"),
    ),
    Metric("exposed_step_max", "s", "less", "longest time of a step without computation", _part(_EXPOSED, "max_ns")),
    Metric("state_open", "s", "less", "median time to open or make the file of a state", _part("open", "p50_ns")),
    Metric("state_transfer", "s", "less", "median time to transfer a state", _part("transfer", "p50_ns")),
    Metric("state_close", "s", "less", "median time to close the file of a state", _part("close", "p50_ns")),
)
