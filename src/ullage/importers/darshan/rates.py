# SPDX-License-Identifier: Apache-2.0
"""How long work takes at rates that were measured: by access, order, kind of file, ranks and bytes of an operation.

Between two sizes of operations the time of an operation is interpolated; below the smallest it is that of the
smallest, above the largest the rate is that of the largest.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import format_quantity

ON_NAMES: Final = frozenset({"create", "stat"})
_METRICS: Final = frozenset({"bandwidth", "operation_rate"})


@dataclass(frozen=True, slots=True)
class Work:
    """Bytes in operations of a size, or a number of operations on names (``access`` create or stat).

    ``items``: the bytes are in so many files. ``is_between``: each between those of other ranks. ``is_synced``: by
    fsync.
    """

    access: str
    amount: float
    block_bytes: int = 0
    order: str = "sequential"
    file_mode: str = "per-process"
    ranks: int = 1
    items: int = 0
    is_between: bool = False
    is_synced: bool = False

    @property
    def words(self) -> str:
        """The work as a reader names it."""
        if self.access in ON_NAMES:
            return f"{self.access} operations on names"
        files = "to a shared file" if self.file_mode == "shared" else "to files of single ranks"
        return f"{self.order} {self.access}s of {format_quantity(self.block_bytes, 'B')} {files}"


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds with the least and most that the intervals of the rates allow."""

    value: float
    low: float
    high: float

    def __add__(self, other: "Span") -> "Span":
        return Span(self.value + other.value, self.low + other.low, self.high + other.high)

    def less(self, other: "Span") -> "Span":
        """Return what is saved where the work takes the ``other`` time; never below 0."""
        parts = (self.value - other.value, self.low - other.high, self.high - other.low)
        return Span(*(max(0.0, one) for one in parts))


NOTHING: Final = Span(0.0, 0.0, 0.0)


class UnknownRateError(Exception):
    """No row has the rate of this work; the text names the work."""


class Rates:
    """The rates of one target, without rows that are INVALID; disturbed ones (grade C) only where there are no others.

    ``name``: the target as sentences name it.
    """

    def __init__(self, rows: Iterable[Row], target: str = "") -> None:
        found = [row for row in rows if row.metric in _METRICS and row.median > 0 and not row.is_bound]
        sound = [row for row in found if not row.is_invalid]
        self.targets = list(dict.fromkeys(row.target for row in sound))
        self.target = target or next(iter(self.targets), "")
        own = [row for row in sound if row.target == self.target]
        self.rows = [row for row in own if row.grade != "C"] or own
        is_disturbed = any(row.grade == "C" for row in self.rows)
        self.name = f"{self.target}, which other programs disturbed" if is_disturbed else self.target

    def seconds(self, works: Iterable[Work]) -> Span:
        """Return how long works take one after the other; raise ``UnknownRateError`` where a rate is not known."""
        total = NOTHING
        for work in works:
            if work.amount > 0:
                total += self._of_names(work) if work.access in ON_NAMES else self._of_bytes(work)
        return total

    def _of_names(self, work: Work) -> Span:
        rows = [row for row in self.rows if row.metric == "operation_rate" and row.access == work.access]
        if not rows:
            raise UnknownRateError(work.words)
        row = min(rows, key=lambda one: _apart(one.ranks, work.ranks))
        return _span(row, work.amount)

    def _of_bytes(self, work: Work) -> Span:
        rows = [row for row in self.rows if row.metric == "bandwidth" and row.access == work.access and _size(row)]
        rows = [row for row in rows if row.word("order", "sequential") == work.order]
        said = [row for row in rows if row.word("file_mode") == work.file_mode]
        alike = said or [row for row in rows if not row.word("file_mode") or work.ranks == 1]
        if not alike:
            raise UnknownRateError(work.words)
        return _between(_nearest(alike, work.ranks), work)


def _size(row: Row) -> int:
    return row.count("block_bytes")


def _apart(one: int, other: int) -> float:
    return abs(math.log(max(1, one) / max(1, other)))


def _nearest(rows: Sequence[Row], ranks: int) -> list[Row]:
    """Return one row for each size, of the nearest number of ranks; of several the fastest."""
    best = min(_apart(row.ranks, ranks) for row in rows)
    found: dict[int, Row] = {}
    for row in sorted(rows, key=lambda row: row.median):
        if _apart(row.ranks, ranks) == best:
            found[_size(row)] = row
    return [found[size] for size in sorted(found)]


def _span(row: Row, amount: float) -> Span:
    high, low = row.high or row.median, row.low or row.median
    return Span(amount / row.median, amount / high, amount / low)


def _between(rows: Sequence[Row], work: Work) -> Span:
    size = work.block_bytes
    for lower, upper in pairwise(rows):
        if _size(lower) <= size <= _size(upper):
            share = (size - _size(lower)) / (_size(upper) - _size(lower))
            operations = work.amount / size
            below, above = _span(lower, operations * _size(lower)), _span(upper, operations * _size(upper))
            parts = zip((below.value, below.low, below.high), (above.value, above.low, above.high), strict=True)
            return Span(*(one + (other - one) * share for one, other in parts))
    if size < _size(rows[0]):
        return _span(rows[0], work.amount * _size(rows[0]) / size)
    return _span(rows[-1], work.amount)
