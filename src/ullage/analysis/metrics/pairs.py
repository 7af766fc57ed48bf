# SPDX-License-Identifier: Apache-2.0
"""Messages between pairs, of all of which the median and the worst are told, and of patterns with all ranks active."""

from typing import Final, cast

from ullage.analysis.metrics import Metric
from ullage.analysis.statistics import median
from ullage.model.record import PhaseRecord

_LATENCY: Final = "ping-pong"
_BANDWIDTH: Final = "one-way"


def one_way_times(phase: PhaseRecord) -> list[tuple[int, int, float]]:
    """Sender, receiver and seconds of each ordered pair, as the workload ``ping-pong`` tells them."""
    told = phase.facts.get("one_way_s")
    items = cast("list[list[float]]", told) if isinstance(told, list) else []
    return [(int(one[0]), int(one[1]), float(one[2])) for one in items]


def _times(phase: PhaseRecord, traffic: str) -> list[float]:
    if phase.facts.get("traffic") != traffic:
        return []
    return [seconds for _, _, seconds in one_way_times(phase) if seconds > 0]


def _message_bytes(phase: PhaseRecord) -> float:
    gauge = phase.gauges.get("message_bytes")
    return 0.0 if gauge is None else gauge.most


def _latency(phase: PhaseRecord) -> float | None:
    times = _times(phase, _LATENCY)
    return median(times) if times else None


def _worst_latency(phase: PhaseRecord) -> float | None:
    return max(_times(phase, _LATENCY), default=None)


def _bandwidth(phase: PhaseRecord) -> float | None:
    times = _times(phase, _BANDWIDTH)
    return _message_bytes(phase) / median(times) if times else None


def _worst_bandwidth(phase: PhaseRecord) -> float | None:
    times = _times(phase, _BANDWIDTH)
    return _message_bytes(phase) / max(times) if times else None


def _exchange(phase: PhaseRecord) -> float | None:
    moved, took = phase.gauges.get("bytes"), phase.gauges.get("elapsed_s")
    if moved is None or took is None or took.most <= 0 or moved.sum <= 0:
        return None
    return moved.sum / took.most


METRICS = (
    Metric("pair_latency", "s", "less", "half a message there and back, median over the ordered pairs", _latency),
    Metric("worst_pair_latency", "s", "less", "the same of the slowest ordered pair", _worst_latency),
    Metric("pair_bandwidth", "B/s", "more", "messages one way over their time, median over ordered pairs", _bandwidth),
    Metric("worst_pair_bandwidth", "B/s", "more", "the same of the slowest ordered pair", _worst_bandwidth),
    Metric(
        "exchange_bandwidth",
        "B/s",
        "more",
        "bytes of all messages of a pattern, each counted once, over the time of the slowest rank",
        _exchange,
    ),
)
