# SPDX-License-Identifier: Apache-2.0
"""Bytes over the whole phase, from the first rank's open to the last rank's close: what an application waits for."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import per_second

METRIC = Metric(
    "bandwidth",
    "B/s",
    "more",
    "bytes over the time from the first rank's open to the last rank's close",
    lambda phase: per_second(phase.bytes, phase.elapsed_ns),
)
