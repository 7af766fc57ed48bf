# SPDX-License-Identifier: Apache-2.0
"""Processor time an operation costs the ranks: what is left for the application while it does I/O."""

from ullage.analysis.metrics import Metric
from ullage.model.record import PhaseRecord


def _cpu_per_operation(phase: PhaseRecord) -> float | None:
    return phase.cpu_ns / phase.operations / 1e9 if phase.operations and phase.cpu_ns else None


METRIC = Metric(
    "cpu_time",
    "s/op",
    "less",
    "user and system time of all ranks over the operations of the phase",
    _cpu_per_operation,
)
