# SPDX-License-Identifier: Apache-2.0
"""Time the slowest rank spent in sync."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import longest_of

METRIC = Metric(
    "sync_time", "s", "less", "time that the slowest rank spent in sync", lambda phase: longest_of(phase, "sync")
)
