# SPDX-License-Identifier: Apache-2.0
"""Whether repetitions resemble those before them, told from the cells of a result together.

A row of 6 to 15 samples says next to nothing of its own lag-1 correlation; 42 of them together do (Kalibera and Jones,
Rigorous Benchmarking in Reasonable Time, 2013, look at it before they trust an interval).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ullage.analysis.statistics.series import autocorrelation

_FEWEST: Final = 4
# One-sided 5 %: below it, what is seen is what independent samples show too.
_SIGNIFICANT: Final = 1.645
_MOST: Final = 0.9


@dataclass(frozen=True, slots=True)
class Dependence:
    """The lag-1 correlation of ``series`` series together; 0 where it cannot be told from none."""

    correlation: float = 0.0
    series: int = 0

    def effective(self, count: int) -> float:
        """How many independent samples tell as much of a mean as ``count`` of these."""
        return count * (1 - self.correlation) / (1 + self.correlation)

    @property
    def inflation(self) -> float:
        """By what factor the variance of a mean grows."""
        return (1 + self.correlation) / (1 - self.correlation)


INDEPENDENT: Final = Dependence()


@dataclass
class _Sums:
    """Over the series: of their correlations, of what independent samples would show, of its variance, of 1/n."""

    series: int = 0
    seen: float = 0.0
    expected: float = 0.0
    variance: float = 0.0
    weight: float = 0.0
    slope: float = 0.0

    def add(self, correlation: float, n: int) -> None:
        """A series weighs as many steps as it has."""
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


def pooled_dependence(series: Iterable[Sequence[float]]) -> Dependence:
    """Samples in the order in which they were taken, a series a cell; those below 4 samples say nothing.

    Of n independent samples the lag-1 correlation is -1/n on average with variance (n-2)^2 / (n^2 (n-1)) (Moran 1948),
    of a first-order autoregressive series about r - (1 + 4 r) / n (Kendall 1954).
    """
    sums = _Sums()
    for samples in series:
        found = autocorrelation(samples) if len(samples) >= _FEWEST else None
        if found is not None:
            sums.add(found, len(samples))
    return Dependence(sums.found, sums.series) if sums.series else INDEPENDENT
