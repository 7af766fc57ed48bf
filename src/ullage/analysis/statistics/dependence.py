# SPDX-License-Identifier: Apache-2.0
"""Whether repetitions resemble those before them, told from the cells of a result together.

A row of 6 to 15 samples says next to nothing of its own lag-1 correlation; 42 of them together do (Kalibera and Jones,
Rigorous Benchmarking in Reasonable Time, 2013, look at it before they trust an interval).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from ullage.analysis.statistics.order import quantile


def autocorrelation(samples: Sequence[float]) -> float | None:
    """Correlate samples with those one later, in the order they were taken; return None when it has no meaning.

    Above 0.2 the samples are not independent and their interval is too narrow.
    """
    n = len(samples)
    if n < 3:
        return None
    mean = sum(samples) / n
    centred = [value - mean for value in samples]
    power = sum(value * value for value in centred)
    # Rounding leaves a trace of power in equal samples.
    if power <= n * (1e-12 * mean) ** 2:
        return None
    return sum(a * b for a, b in pairwise(centred)) / power


def outliers(samples: Sequence[float], reach: float = 1.5) -> list[int]:
    """Return the indices of samples outside Tukey's fences: quartiles moved out by ``reach`` times their distance."""
    if not samples:
        return []
    first, third = quantile(samples, 0.25), quantile(samples, 0.75)
    beyond = reach * (third - first)
    return [index for index, value in enumerate(samples) if not first - beyond <= value <= third + beyond]


_FEWEST: Final = 4
# This is the one-sided 5 % quantile: independent samples, too, show what lies below it.
_SIGNIFICANT: Final = 1.645
_MOST: Final = 0.9
# Two samples have a lag-1 correlation of -1/2 whatever they are like.
_TELLING: Final = 3
# Where series do not tell their correlation to that, they are taken to have no more than is usual.
_TOLD_TO: Final = 0.32
_USUAL: Final = 0.4


@dataclass(frozen=True, slots=True)
class Dependence:
    """The lag-1 correlation of ``series`` series together; 0 where it cannot be told from none.

    ``most``: as much as they may have; too few series do not tell that they have less.
    """

    correlation: float = 0.0
    series: int = 0
    most: float = 0.0

    def effective(self, count: int) -> float:
        """Return how many independent samples tell as much of a mean as ``count`` of these."""
        return count * (1 - self.correlation) / (1 + self.correlation)

    @property
    def inflation(self) -> float:
        """The factor by which the variance of a mean may grow, against what the samples' own variance tells of it."""
        return (1 + self.most) / (1 - self.most)


INDEPENDENT: Final = Dependence()


@dataclass
class _Sums:
    """Sums over the series: of their correlations, of those that independent samples have, of its variance, of 1/n."""

    series: int = 0
    seen: float = 0.0
    expected: float = 0.0
    variance: float = 0.0
    weight: float = 0.0
    slope: float = 0.0

    def add(self, correlation: float, n: int) -> None:
        """Add the correlation of a series of ``n`` samples; it weighs as many steps as it has."""
        weight = n - 1
        self.series += 1
        self.weight += weight
        self.seen += weight * correlation
        self.expected -= weight / n
        self.slope += weight * (1 - 4 / n)
        self.variance += weight**2 * (n - 2) ** 2 / (n**2 * (n - 1))

    @cached_property
    def found(self) -> float:
        """The estimate, its bias taken out; 0 where independent samples show as much in 1 of 20 results."""
        beyond = self.seen - self.expected
        if self.series < 2 or self.slope <= 0 or beyond <= _SIGNIFICANT * math.sqrt(self.variance):
            return 0.0
        return min(beyond / self.slope, _MOST)


@lru_cache(maxsize=1 << 15)
def _of_series(samples: tuple[float, ...]) -> float | None:
    """Return the lag-1 correlation. A cell is pooled with those of its grid, of its target, and of another target."""
    return autocorrelation(samples)


def pooled_dependence(series: Iterable[Sequence[float]]) -> Dependence:
    """Estimate the lag-1 correlation from series, one a cell, of samples in the order in which they were taken.

    Series below 4 samples tell ``most`` only. Of n independent samples the lag-1 correlation is -1/n on average with
    variance (n-2)^2 / (n^2 (n-1)) (Moran 1948), of a first-order autoregressive series about r - (1 + 4 r) / n (Kendall
    1954).
    """
    sums = _Sums()
    known: list[tuple[float, int]] = []
    for samples in series:
        found = _of_series(tuple(samples)) if len(samples) >= _TELLING else None
        if found is not None:
            known.append((found, len(samples)))
            if len(samples) >= _FEWEST:
                sums.add(found, len(samples))
    return Dependence(sums.found if sums.series else 0.0, sums.series, max(sums.found, _at_most(known)))


def _at_most(known: Sequence[tuple[float, int]]) -> float:
    """Return the correlation that the series have at most in 19 of 20 cases, from pairs of what each shows and length.

    The mean of the correlation that n samples show rises with that of their series by about (1 - 2 / n)^2.3, by
    simulation of 3 to 15 samples; its variance is much the same for all.
    """
    found, weight = 0.0, 0.0
    for seen, n in known:
        slope, scatter = (1 - 2 / n) ** 2.3, (n - 2) ** 2 / (n**2 * (n - 1))
        found += slope / scatter * (seen + 1 / n)
        weight += slope**2 / scatter
    upper = (found + _SIGNIFICANT * math.sqrt(weight)) / weight if weight > 0 else _MOST
    return min(max(upper, 0.0), _MOST if weight * _TOLD_TO**2 > 1 else _USUAL)
