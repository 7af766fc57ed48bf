# SPDX-License-Identifier: Apache-2.0
"""Arithmetic instructions of a kernel a cycle of each core: loop overhead and loads are not counted."""

from ullage.analysis.metrics import Metric
from ullage.model.record import PhaseRecord


def _sample(phase: PhaseRecord) -> float | None:
    instructions, cycles = phase.gauges.get("instructions"), phase.gauges.get("cycles")
    if instructions is None or cycles is None or instructions.sum <= 0 or cycles.sum <= 0:
        return None
    return instructions.sum / cycles.sum


METRIC = Metric(
    "instructions_per_cycle",
    "instr/cycle",
    "more",
    "arithmetic instructions of all threads over the cycles of all threads, by the clock measured around each window",
    _sample,
)
