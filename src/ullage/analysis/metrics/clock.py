# SPDX-License-Identifier: Apache-2.0
"""Clock of the cores under the very work that was measured, by dependent additions around each window."""

from ullage.analysis.metrics import Metric
from ullage.model.record import PhaseRecord


def _sample(phase: PhaseRecord) -> float | None:
    found = phase.gauges.get("clock_hz")
    # Added over the ranks; 0 where the engine has no such chain for this processor.
    return found.sum / phase.ranks if found is not None and found.sum > 0 else None


METRIC = Metric("clock", "Hz", "more", "clock of the cores between the windows of the work, mean over threads", _sample)
