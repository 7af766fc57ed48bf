# SPDX-License-Identifier: Apache-2.0
"""Bytes done while every rank was still at work: the rate without stragglers."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import per_second

METRIC = Metric(
    "first_done_bandwidth",
    "B/s",
    "more",
    "bytes done when the first rank had finished, over the time to that instant",
    lambda phase: per_second(phase.first_done.bytes, phase.first_done.elapsed_ns),
)
