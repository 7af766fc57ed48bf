# SPDX-License-Identifier: Apache-2.0
"""Intervals for a median or a quantile from order statistics, with exact binomial coverage.

Source: Hahn and Meeker, Statistical Intervals, 5.2: the number of samples below the quantile q of their distribution is
binomial (n, q), whatever the distribution, so [x_(l), x_(u)] covers it with P(l <= B < u). The engine's stop rule
``median-ci`` uses the same interval of the median.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ullage.analysis.statistics.order import median_of_sorted, quantile


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of ``median`` (or of the quantile asked for). ``level_reached`` may lie below ``level``: few samples."""

    median: float
    low: float
    high: float
    level_reached: float
    level: float = 0.95

    @property
    def below_level(self) -> bool:
        """No interval of these samples reaches the level that was asked for."""
        return self.level_reached < self.level


def median_interval(samples: Sequence[float], level: float = 0.95) -> Interval:
    """The narrowest symmetric pair of order statistics that covers the median with at least ``level``.

    For fewer samples than any such pair needs (6 at 95 %) it is the full range, which covers with 1 - 2^(1-n); a single
    sample covers nothing (level reached 0). ``ValueError`` without samples or with a level outside 0 and 1.
    """
    _check(samples, level)
    ordered = sorted(samples)
    rank, reached = _symmetric_rank(len(ordered), level)
    return Interval(median_of_sorted(ordered), ordered[rank - 1], ordered[-rank], reached, level)


def relative_width(interval: Interval) -> float | None:
    """Half the width of the interval over its median; None when the median is 0."""
    if interval.median == 0:
        return None
    return (interval.high - interval.low) / 2 / abs(interval.median)


def quantile_interval(samples: Sequence[float], q: float, level: float = 0.95) -> Interval:
    """Order statistics that cover the quantile ``q`` with at least ``level``, as few of them as possible on each side.

    Where the samples are too few (a 95 % interval of p99 needs more than 300) it is the full range and says so.
    """
    _check(samples, level)
    if not 0 < q < 1:
        raise ValueError(f"quantile {q} is not between 0 and 1")
    ordered = sorted(samples)
    low, high, reached = _quantile_ranks(len(ordered), q, level)
    return Interval(quantile(ordered, q), ordered[low - 1], ordered[high - 1], reached, level)


def _check(samples: Sequence[float], level: float) -> None:
    if not samples:
        raise ValueError("no samples")
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")


@lru_cache(maxsize=4096)
def _symmetric_rank(n: int, level: float) -> tuple[int, float]:
    """Largest k for which [x_(k), x_(n+1-k)] covers the median with ``level`` (else 1), and the coverage."""
    below, rank, reached = 0.0, 1, 0.0
    for k in range(1, n // 2 + 1):
        below += _binomial(n, k - 1, 0.5)
        coverage = 1 - 2 * below
        if k > 1 and coverage < level:
            break
        rank, reached = k, coverage
    return rank, max(reached, 0.0)


@lru_cache(maxsize=4096)
def _quantile_ranks(n: int, q: float, level: float) -> tuple[int, int, float]:
    """Ranks (from 1) that leave at most half of ``1 - level`` on either side, or the ends; and the coverage."""
    half = (1 - level) / 2
    cumulative = [0.0]
    for k in range(n + 1):
        cumulative.append(cumulative[-1] + _binomial(n, k, q))
    # P(B < l) stands at cumulative[l], P(B >= u) is 1 - cumulative[u].
    low = max((rank for rank in range(1, n + 1) if cumulative[rank] <= half), default=1)
    high = min((rank for rank in range(1, n + 1) if 1 - cumulative[rank] <= half), default=n)
    return low, high, min(max(cumulative[high] - cumulative[low], 0.0), 1.0)


def _binomial(n: int, k: int, q: float) -> float:
    log_choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log_choose + k * math.log(q) + (n - k) * math.log1p(-q))
