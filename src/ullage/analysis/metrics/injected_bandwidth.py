# SPDX-License-Identifier: Apache-2.0
"""Bytes that other threads moved while a chase was timed."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.windows import rate_of

METRIC = Metric(
    "injected_bandwidth",
    "B/s",
    "more",
    "bytes that the injecting threads moved beside a chase, over the time of the windows",
    lambda phase: rate_of(phase, "injected_bytes"),
)
