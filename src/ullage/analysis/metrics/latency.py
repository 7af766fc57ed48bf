# SPDX-License-Identifier: Apache-2.0
"""How long single operations took, over all ranks of one repetition: percentiles of the engine's histogram.

Percentiles of several repetitions stay one sample a repetition: merging them would hide a slow repetition.
"""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import seconds
from ullage.model.record import PhaseRecord


def _latency(name: str, field: str, doc: str) -> Metric:
    def sample(phase: PhaseRecord) -> float | None:
        if phase.latency is None or phase.latency.operations == 0:
            return None
        return seconds(getattr(phase.latency, field))

    return Metric(name, "s", "less", doc, sample)


METRICS = (
    _latency("latency_p50", "p50_ns", "time that half of the operations stayed below"),
    _latency("latency_p95", "p95_ns", "time that 95 of 100 operations stayed below"),
    _latency("latency_p99", "p99_ns", "time that 99 of 100 operations stayed below"),
    _latency("latency_p999", "p999_ns", "time that 999 of 1000 operations stayed below"),
    _latency("latency_max", "max_ns", "time of the slowest operation"),
)
