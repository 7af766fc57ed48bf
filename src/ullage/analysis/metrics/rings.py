# SPDX-License-Identifier: Apache-2.0
"""HPC Challenge's numbers of messages: rings in which all send, and pairs of which one at a time does.

Source: HPCC 1.5, bench_lat_bw. A ring's time is that of one of the two messages each process sends in an iteration.
"""

from collections.abc import Callable
from statistics import fmean
from typing import Final, cast

from ullage.analysis.metrics import Metric
from ullage.model.record import PhaseRecord

_RING: Final = "ring_s"
_SIZE: Final = "message_bytes"
_TIMES: Final = {"least": "least_one_way_s", "mean": "mean_one_way_s", "most": "most_one_way_s"}


def _gauge(phase: PhaseRecord, name: str) -> float | None:
    found = phase.gauges.get(name)
    return found.most if found is not None and found.most > 0 else None


def _time(name: str) -> Callable[[PhaseRecord], float | None]:
    return lambda phase: _gauge(phase, name)


def _rate(name: str) -> Callable[[PhaseRecord], float | None]:
    def rate(phase: PhaseRecord) -> float | None:
        size, seconds = _gauge(phase, _SIZE), _gauge(phase, name)
        return None if size is None or seconds is None else size / seconds

    return rate


def _mean_rate(phase: PhaseRecord) -> float | None:
    """The mean of the pairs' rates, not the rate of their mean time."""
    size, pairs = _gauge(phase, _SIZE), phase.facts.get("one_way_s")
    if size is None or not isinstance(pairs, list):
        return None
    entries = [cast("list[object]", one) for one in cast("list[object]", pairs) if isinstance(one, list)]
    times = [one[2] for one in entries if len(one) == 3]
    known = [float(seconds) for seconds in times if isinstance(seconds, (int, float)) and seconds > 0]
    return size * fmean(1 / seconds for seconds in known) if known else None


METRICS = (
    Metric("ring_latency", "s", "less", "time of a message while every process sends to both neighbours", _time(_RING)),
    Metric("ring_bandwidth", "B/s", "more", "bytes of a message over that time, of each process", _rate(_RING)),
    Metric(
        "ping_pong_least_latency",
        "s",
        "less",
        "one-way time between the fastest pair of processes",
        _time(_TIMES["least"]),
    ),
    Metric("ping_pong_latency", "s", "less", "the same, mean over the pairs", _time(_TIMES["mean"])),
    Metric("ping_pong_most_latency", "s", "less", "the same of the slowest pair", _time(_TIMES["most"])),
    Metric(
        "ping_pong_least_bandwidth",
        "B/s",
        "more",
        "bytes of a message over the one-way time of the slowest pair",
        _rate(_TIMES["most"]),
    ),
    Metric("ping_pong_bandwidth", "B/s", "more", "the same, mean over the pairs", _mean_rate),
    Metric("ping_pong_most_bandwidth", "B/s", "more", "the same of the fastest pair", _rate(_TIMES["least"])),
)
