# SPDX-License-Identifier: Apache-2.0
"""Bytes that memory has to move for a kernel: an ordinary store fetches its line first (write-allocate)."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.windows import rate_of

METRIC = Metric(
    "bus_bandwidth",
    "B/s",
    "more",
    "bytes that cross the memory bus for a kernel, lines fetched by ordinary stores among them, over its windows",
    lambda phase: rate_of(phase, "bus_bytes"),
)
