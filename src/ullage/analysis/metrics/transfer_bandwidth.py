# SPDX-License-Identifier: Apache-2.0
"""Bytes over the transfers alone, without open, sync and close."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import per_second, stage_span_ns

METRIC = Metric(
    "transfer_bandwidth",
    "B/s",
    "more",
    "bytes over the time from the first rank's first transfer to the last rank's last",
    lambda phase: per_second(phase.bytes, stage_span_ns(phase.stages.get("transfer"))),
)
