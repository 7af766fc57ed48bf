# SPDX-License-Identifier: Apache-2.0
"""Latency of a case over all its repetitions: the engine's histograms added up."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ullage.model.record import Latency

_SUB_BUCKETS: Final = 128
_NS_PER_S: Final = 1e9
PERCENTILES: Final = (("p50", 500), ("p95", 950), ("p99", 990), ("p99.9", 999))
NAMES: Final = (*(name for name, _ in PERCENTILES), "max")


@dataclass(frozen=True)
class Percentiles:
    """Percentiles of the latencies of operations.

    ``seconds`` by name, p50 to max, of ``operations``. ``merged``: over all repetitions, else of one only.
    """

    operations: int
    seconds: dict[str, float]
    merged: bool


def bucket_midpoint_ns(index: int) -> float:
    """Return the middle of bucket ``index`` of the engine's histogram, log-linear as ``model.record.Latency`` says."""
    if index < 2 * _SUB_BUCKETS:
        return float(index)
    exponent, mantissa = index // _SUB_BUCKETS - 1, index % _SUB_BUCKETS + _SUB_BUCKETS
    return ((mantissa << exponent) + ((mantissa + 1) << exponent) - 1) / 2


def merge(latencies: Iterable[Latency]) -> Percentiles | None:
    """Return percentiles over all operations, or None without operations.

    They are of the slowest histogram alone, by its p50, when one of them came without buckets.
    """
    found = [latency for latency in latencies if latency.operations]
    if not found:
        return None
    if not all(latency.buckets for latency in found):
        return _of_one(max(found, key=lambda latency: latency.p50_ns))
    counts: Counter[int] = Counter()
    for latency in found:
        for index, count in latency.buckets:
            counts[index] += count
    largest = max(latency.max_ns for latency in found)
    return _percentiles(sorted(counts.items()), largest)


def _percentiles(buckets: list[tuple[int, int]], largest_ns: int) -> Percentiles:
    total = sum(count for _, count in buckets)
    seconds: dict[str, float] = {}
    for name, permille in PERCENTILES:
        wanted, seen = -(-total * permille // 1000), 0
        for index, count in buckets:
            seen += count
            if seen >= wanted:
                seconds[name] = min(bucket_midpoint_ns(index), largest_ns) / _NS_PER_S
                break
    return Percentiles(total, {**seconds, "max": largest_ns / _NS_PER_S}, merged=True)


def _of_one(latency: Latency) -> Percentiles:
    values = (latency.p50_ns, latency.p95_ns, latency.p99_ns, latency.p999_ns, latency.max_ns)
    return Percentiles(
        latency.operations, {name: value / _NS_PER_S for name, value in zip(NAMES, values, strict=True)}, merged=False
    )
