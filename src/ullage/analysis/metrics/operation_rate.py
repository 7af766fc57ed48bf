# SPDX-License-Identifier: Apache-2.0
"""Operations over the whole phase."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import per_second

METRIC = Metric(
    "operation_rate",
    "op/s",
    "more",
    "operations over the time from the first rank's open to the last rank's close",
    lambda phase: per_second(phase.operations, phase.elapsed_ns),
)
