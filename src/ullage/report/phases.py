# SPDX-License-Identifier: Apache-2.0
"""Rows of a benchmark of named phases, by the names that its own users know; the latency of a case.

The name is the ``phase`` parameter of a row.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from ullage.analysis.settings import phase_of
from ullage.grouping import grouped
from ullage.model.record import Done, Latency, PhaseRecord
from ullage.model.summary import Row
from ullage.quantity import Scale, between, scale_for, significant
from ullage.report.data import ReportData

_SCALES: Final = {"B/s": Scale(float(1 << 30), "GiB/s"), "op/s": Scale(1e3, "kIOPS")}
_NS_PER_S: Final = 1e9
_DIGITS: Final = 4


@dataclass(frozen=True)
class NamedPhase:
    """One phase on one target. ``row`` is the metric that the suite names first, ``others`` are by metric."""

    target: str
    name: str
    row: Row
    others: dict[str, Row]
    records: Sequence[PhaseRecord]

    @property
    def seconds(self) -> float | None:
        """Median time of the phase: from the records, or as an imported table states it."""
        if self.records:
            return median(record.elapsed_ns for record in self.records) / _NS_PER_S
        stated = self.others.get("phase_time")
        return None if stated is None else stated.median

    @property
    def stonewall_rate(self) -> float | None:
        """Median rate when the time of the phase was up; None without a stonewall."""
        walls = [record.stonewall.at_wall for record in self.records if record.stonewall is not None]
        if walls:
            return self._median_rate(walls)
        stated = next((row for metric, row in self.others.items() if metric.startswith("stonewall")), None)
        return None if stated is None else stated.median

    @property
    def wear_out_rate(self) -> float | None:
        """Median rate of the repetitions in which every rank went on to the largest count; None where none did."""
        worn = [record for record in self.records if record.stonewall is not None and record.stonewall.wear_out]
        if worn:
            return self._median_rate(worn)
        stated = any(metric.startswith("stonewall") for metric in self.others)
        return self.row.median if stated and not self.records else None

    @property
    def is_wear_out_cut(self) -> bool:
        """Whether wear-out was ended by its limit in some repetition."""
        return any(record.stonewall is not None and record.stonewall.cut for record in self.records)

    def _median_rate(self, measured: Sequence[PhaseRecord | Done]) -> float | None:
        timed = [one for one in measured if one.elapsed_ns > 0]
        in_bytes = self.row.unit == "B/s"
        rates = [(one.bytes if in_bytes else one.operations) / one.elapsed_ns * _NS_PER_S for one in timed]
        return median(rates) if rates else None


def named_phases(data: ReportData) -> list[NamedPhase]:
    """Return every phase of every target, in the order in which the summary first names phases, then targets."""
    groups = grouped(((phase_of(row), row.target), row) for row in data.view.of_phases)
    order = list(dict.fromkeys(name for name, _ in groups))
    found = [
        NamedPhase(target, name, rows[0], {row.metric: row for row in rows[1:]}, data.phases_of(rows[0]))
        for (name, target), rows in groups.items()
    ]
    return sorted(found, key=lambda phase: order.index(phase.name))


def labeller(phases: Sequence[NamedPhase]) -> Callable[[NamedPhase], str]:
    """Return a function that names a phase, with its target where there are several."""
    several = len({phase.target for phase in phases}) > 1
    return lambda phase: f"{phase.target} · {phase.name}" if several else phase.name


def phase_scale(values: Sequence[float], unit: str) -> Scale:
    """Return GiB/s or kIOPS, in which the lists of such benchmarks are kept; another unit with its best prefix."""
    return _SCALES.get(unit) or scale_for(values, unit)


def format_list_rate(value: float | None, unit: str) -> str:
    """Write ``1.234 GiB/s``; empty for None."""
    if value is None:
        return ""
    scale = phase_scale([value], unit)
    return f"{significant(value / scale.factor, _DIGITS)} {scale.unit}".strip()


def format_list_interval(row: Row) -> str:
    """Write ``[1.190, 1.270]``, or a range, in the unit of ``format_list_rate``; empty for a single sample."""
    if row.low is None or row.high is None:
        return ""
    scale = phase_scale([row.median], row.unit)
    low, high = (significant(value / scale.factor, _DIGITS) for value in (row.low, row.high))
    return between(low, high, is_range=row.has_range)


_SUB_BUCKETS: Final = 128
PERCENTILES: Final = (("p50", 500), ("p95", 950), ("p99", 990), ("p99.9", 999))
PERCENTILE_NAMES: Final = (*(name for name, _ in PERCENTILES), "max")


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
    seconds = {name: value / _NS_PER_S for name, value in zip(PERCENTILE_NAMES, values, strict=True)}
    return Percentiles(latency.operations, seconds, merged=False)
