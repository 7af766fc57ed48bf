# SPDX-License-Identifier: Apache-2.0
"""Arithmetic operations of one window over the time of the shortest: what the cores do when nobody disturbs them."""

from ullage.analysis.metrics import Metric
from ullage.model.record import PhaseRecord


def _sample(phase: PhaseRecord) -> float | None:
    done, shortest = phase.gauges.get("operations"), phase.gauges.get("shortest_window_s")
    # The operations of the phase are its windows, of all ranks; every window does the same work.
    windows = phase.operations / phase.ranks
    if done is None or shortest is None or shortest.least <= 0 or done.sum <= 0 or windows <= 0:
        return None
    return done.sum / windows / shortest.least


METRIC = Metric(
    "best_compute_rate", "op/s", "more", "arithmetic operations of a window over the time of the shortest one", _sample
)
