# SPDX-License-Identifier: Apache-2.0
"""Time the slowest rank spent in sync."""

from ullage.metrics import Metric
from ullage.metrics.arithmetic import longest_of

METRIC = Metric(
    "sync_time", "s", "less", "time that the slowest rank spent in sync", lambda phase: longest_of(phase, "sync")
)
