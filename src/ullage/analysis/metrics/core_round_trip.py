# SPDX-License-Identifier: Apache-2.0
"""Time for a cache line to go from one core to another and back."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.windows import time_each

METRIC = Metric(
    "core_round_trip",
    "s",
    "less",
    "time of the windows over the times a cache line went from one core to the other and back",
    lambda phase: time_each(phase, "kernel_s", "round_trips"),
)
