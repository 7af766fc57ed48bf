# SPDX-License-Identifier: Apache-2.0
"""Bytes done when the time of a phase was up; only phases with a stonewall have it."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import per_second
from ullage.model.record import PhaseRecord


def _sample(phase: PhaseRecord) -> float | None:
    if phase.stonewall is None:
        return None
    return per_second(phase.stonewall.at_wall.bytes, phase.stonewall.at_wall.elapsed_ns)


METRIC = Metric("stonewall_bandwidth", "B/s", "more", "bytes done at the stonewall over the time to it", _sample)
