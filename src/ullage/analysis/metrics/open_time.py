# SPDX-License-Identifier: Apache-2.0
"""Time the slowest rank spent in open."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import longest_of

METRIC = Metric(
    "open_time", "s", "less", "time that the slowest rank spent in open", lambda phase: longest_of(phase, "open")
)
