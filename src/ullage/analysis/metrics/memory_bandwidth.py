# SPDX-License-Identifier: Apache-2.0
"""Bytes as an application counts them (McCalpin's STREAM: what a kernel names, read and written) over the windows."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.windows import rate_of

METRIC = Metric(
    "memory_bandwidth",
    "B/s",
    "more",
    "bytes that a kernel reads and writes, as STREAM counts them, over the time of its windows",
    lambda phase: rate_of(phase, "application_bytes"),
)
