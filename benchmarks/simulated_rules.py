# SPDX-License-Identifier: Apache-2.0
"""Stop rules with the interval that rows state: that of before, those that were weighed, and that of today."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median, stdev

from ullage.analysis.statistics.dependence import pooled_dependence
from ullage.analysis.statistics.intervals import Interval, median_interval

_WANTED, _FEWEST, _MOST = 0.05, 3, 15
Intervals = Callable[[Sequence[float], float], Interval]


@dataclass(frozen=True)
class Rule:
    """``interval(samples, correlation)``; ``claims_all``: what has fewer than 6 samples says 95 % too."""

    name: str
    interval: Intervals
    fewest: int = _FEWEST
    claims_all: bool = False
    uses_dependence: bool = False
    looks: frozenset[int] = frozenset(range(_MOST + 1))

    def take(self, cell: Iterator[float], so_far: Sequence[float] = (), correlation: float = 0.0) -> list[float]:
        """Sample after sample until the interval is narrow, as the engine does."""
        samples = list(so_far)
        while len(samples) < _MOST and not self.is_narrow(samples, correlation):
            samples.append(next(cell))
        return samples

    def is_narrow(self, samples: Sequence[float], correlation: float = 0.0) -> bool:
        """Whether the engine stops."""
        if len(samples) < self.fewest or len(samples) not in self.looks:
            return False
        found = self.interval(samples, correlation)
        if found.below_level and not self.claims_all:
            return False
        return math.log(found.high / found.low) / 2 <= _WANTED

    def dependence(self, taken: Sequence[Sequence[float]]) -> float:
        """The correlation that rows reckon with."""
        if not self.uses_dependence:
            return 0.0
        return pooled_dependence(taken).correlation


def after_dependence(rule: Rule, cells: Sequence[Iterator[float]], taken: Sequence[list[float]]) -> list[list[float]]:
    """A further launch of what is still wide, with the correlation that the first has shown."""
    known = rule.dependence(taken)
    return [rule.take(cell, samples, known) for cell, samples in zip(cells, taken, strict=True)]


@cache
def _coverage(n: int, rank: int) -> float:
    return 1 - 2 * sum(math.comb(n, k) for k in range(rank)) / 2**n


def _before(samples: Sequence[float], _: float = 0.0) -> Interval:
    """Whole ranks; below 6 samples the full range."""
    ordered, n = sorted(samples), len(samples)
    rank = max((k for k in range(1, n // 2 + 1) if _coverage(n, k) >= 0.95), default=1)
    return Interval(median(ordered), ordered[rank - 1], ordered[-rank], _coverage(n, rank))


def _interpolated(wanted: float) -> Intervals:
    def interval(samples: Sequence[float], _: float = 0.0) -> Interval:
        ordered, n = sorted(samples), len(samples)
        if _coverage(n, 1) < wanted:
            return Interval(median(ordered), ordered[0], ordered[-1], _coverage(n, 1))
        rank = max(k for k in range(1, n) if _coverage(n, k) >= wanted)
        share = (_coverage(n, rank) - wanted) / (_coverage(n, rank) - _coverage(n, rank + 1))
        weight = (n - rank) * share / (rank + (n - 2 * rank) * share)
        low = (1 - weight) * ordered[rank - 1] + weight * ordered[rank]
        high = (1 - weight) * ordered[-rank] + weight * ordered[-rank - 1]
        return Interval(median(ordered), low, high, 0.95)

    return interval


_STUDENT = {3: 4.302653, 4: 3.182446, 5: 2.776445}


def _student_below_6(samples: Sequence[float], _: float = 0.0) -> Interval:
    """Student's t of the logarithms below 6 samples, interpolated order statistics from there on."""
    n = len(samples)
    if n >= 6:
        return _interpolated(0.95)(samples, 0.0)
    logs = [math.log(value) for value in samples]
    reach = _STUDENT[n] * stdev(logs) / math.sqrt(n)
    return Interval(median(samples), math.exp(fmean(logs) - reach), math.exp(fmean(logs) + reach), 0.95)


def _today(samples: Sequence[float], correlation: float) -> Interval:
    return median_interval(samples, 0.95, correlation)


BEFORE = Rule("before", _before, claims_all=True)
AFTER = Rule("now", _today, fewest=6, uses_dependence=True, looks=frozenset({6, 10, 15}))
RULES = (
    BEFORE,
    Rule("Student's t below 6", _student_below_6, claims_all=True),
    Rule("6 or more, interpolated", _interpolated(0.95), fewest=6),
    AFTER,
)
