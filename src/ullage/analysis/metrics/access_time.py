# SPDX-License-Identifier: Apache-2.0
"""Time of one dependent load: what the chasing threads needed, added up, over the loads they made.

With several chains in one thread their loads overlap, and this is the inverse of a rate; a row names its chains.
"""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.windows import time_each
from ullage.model.record import PhaseRecord


def _sample(phase: PhaseRecord) -> float | None:
    # Under load one thread chases and the others only disturb: its time goes by a name of its own.
    found = time_each(phase, "thread_s", "accesses")
    return time_each(phase, "chase_s", "accesses") if found is None else found


METRIC = Metric("access_time", "s", "less", "time of the chasing threads over the loads they made", _sample)
