# SPDX-License-Identifier: Apache-2.0
"""How much samples and launches scatter, told by many cells together: the moderated variance of Smyth (2004).

A cell of 6 samples knows its own variance to a factor of 3. Where cells scatter alike, as they do on one device, all of
them tell what one sample of any is worth; where they do not, each is left to itself. How alike they are is estimated
from the variances themselves, as an equivalent number of degrees of freedom (Statistical Applications in Genetics and
Molecular Biology 3, sections 5 and 6.2).

Launches are a term of the variance: two settings of one launch are compared within it. Settings of different launches
differ by these, too, and how much launches of this machine differ is told by those that measured the same cells
(Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, 2013).
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from operator import mul
from statistics import fmean, median
from typing import Final

from ullage.analysis.statistics.dependence import Dependence, pooled_dependence
from ullage.grouping import grouped


@dataclass(frozen=True, slots=True)
class Sampled:
    """Samples of a cell above 0, with the ``launches`` that took them (none: all of one launch).

    Launches shift all cells of a ``family`` alike.
    """

    values: Sequence[float]
    launches: Sequence[Hashable] = ()
    family: Hashable = ""


@dataclass(frozen=True, slots=True)
class LaunchSpread:
    """How much launches differ: the variance of the log of what all of one launch share, and its degrees of freedom.

    ``freedom`` 0: not known. ``shifts``: of each launch, where several cells tell it.
    """

    variance: float = 0.0
    freedom: float = 0.0
    shifts: Mapping[Hashable, float] = field(default_factory=dict[Hashable, float])

    def apart(self, values: Sequence[float], launches: Sequence[Hashable]) -> Sequence[float]:
        """Return ``values`` without what their launches did to them."""
        if not self.shifts or not launches:
            return values
        return [value / math.exp(self.shifts.get(one, 0.0)) for value, one in zip(values, launches, strict=True)]


NOT_KNOWN: Final = LaunchSpread()


def shares(launches: Sequence[Hashable], count: int) -> dict[Hashable, float]:
    """Return the share of each launch in ``count`` samples."""
    if not launches:
        return {"": 1.0}
    return {launch: times / count for launch, times in Counter(launches).items()}


def launch_spread(cells: Iterable[Sampled]) -> LaunchSpread:
    """Estimate how much launches differ from cells that several launches have measured.

    It is half the mean square of the difference between two launches, each the mean over the cells of a family that
    both have measured. What is left of the cells' own noise in it makes it too large rather than too small. The
    degrees of freedom are those of the launches, however many cells they have measured.
    """
    means = [(cell.family, _means(cell)) for cell in cells if len(set(cell.launches)) > 1]
    pairs = grouped(
        ((family, one, other), of[one] - of[other]) for family, of in means for one, other in combinations(of, 2)
    )
    if not pairs:
        return NOT_KNOWN
    weight = sum(map(len, pairs.values()))
    variance = sum(len(found) * fmean(found) ** 2 for found in pairs.values()) / 2 / weight
    freedom = sum(len(found) - 1 for found in _connected({frozenset(of) for _, of in means}))
    return LaunchSpread(variance, freedom, _shifts([of for _, of in means], freedom))


def _means(cell: Sampled) -> dict[Hashable, float]:
    logs = grouped((launch, math.log(value)) for launch, value in zip(cell.launches, cell.values, strict=True))
    return {launch: fmean(found) for launch, found in logs.items()}


def _connected(sets: Iterable[frozenset[Hashable]]) -> list[frozenset[Hashable]]:
    found: list[frozenset[Hashable]] = []
    for one in sets:
        joined, apart = one, list[frozenset[Hashable]]()
        for other in found:
            if joined & other:
                joined |= other
            else:
                apart.append(other)
        found = [*apart, joined]
    return found


def _shifts(means: Sequence[Mapping[Hashable, float]], freedom: int) -> dict[Hashable, float]:
    """Return how far each launch lies from the mean of its cells, less what these would show without any shift.

    A shift is a mean of few cells: so it shrinks by the ratio of the mean squares within and between launches.
    """
    off = grouped((launch, mean - fmean(of.values())) for of in means for launch, mean in of.items())
    shifts = {launch: fmean(found) for launch, found in off.items()}
    between = sum(len(found) * shifts[launch] ** 2 for launch, found in off.items()) / freedom
    within = sum((one - shifts[launch]) ** 2 for launch, found in off.items() for one in found)
    left = sum(map(len, off.values())) - len(means) - freedom
    if left < 1 or within >= left * between:
        return {}
    share = 1 - within / left / between
    return {launch: share * shift for launch, shift in shifts.items()}


# No clock and no machine repeats itself better: without it, cells of equal samples would say that noise is none.
_LEAST_VARIANCE: Final = 1e-4**2
_MOST_FREEDOM: Final = 1e4
# Two cells always look alike: their variances do not tell that they are.
_FEWEST_CELLS: Final = 3
# A few samples may all be of one mode of the noise, and seem to have none. Normal samples of 6 go below this part of
# what cells have in the middle in 1 of 17 cells.
_LEAST_OF_MEDIAN: Final = 0.25
# Cells of 3 samples go below this part in 1 of 1,000: one of equal samples is no measure of how alike all others are.
_LEAST_TELLING: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Spread:
    """What is known of the variance of a log beside the samples themselves: a value, and what it weighs.

    ``inflation``: by what the variance of a mean grows because repetitions resemble those before them. ``least``: a
    cell whose samples scatter less than that does so by chance. ``launches``: how much these differ.
    """

    variance: float = 0.0
    freedom: float = 0.0
    inflation: float = 1.0
    least: float = _LEAST_VARIANCE
    launches: LaunchSpread = NOT_KNOWN


UNKNOWN: Final = Spread()


@dataclass(frozen=True, slots=True)
class LogMean:
    """The mean of the logarithms of samples, its variance, and the degrees of freedom that tells it with."""

    mean: float
    variance: float
    freedom: float


def log_mean(samples: Sequence[float], spread: Spread = UNKNOWN, launches: Sequence[Hashable] = ()) -> LogMean | None:
    """Return mean and variance of the logs; None where a single sample stands alone and nothing tells of its noise.

    The variance is that within ``launches``, the one of each sample.
    """
    own = len(samples) - 1
    freedom = own + spread.freedom
    if freedom <= 0:
        return None
    mean = _of_logs(tuple(samples))[0]
    variance = _of_logs(tuple(spread.launches.apart(samples, launches)))[1]
    together = (own * max(variance, spread.least) if own else 0.0) + spread.freedom * spread.variance
    return LogMean(mean, together / freedom * spread.inflation / len(samples), freedom)


@lru_cache(maxsize=1 << 15)
def _of_logs(samples: tuple[float, ...]) -> tuple[float, float]:
    """Return mean and variance (0 of a single one) of the logs. Each cell is compared with many others."""
    logs = [math.log(value) for value in samples]
    return fmean(logs), _variance(logs) if len(logs) > 1 else 0.0


def dependence_within(cells: Sequence[Sampled]) -> Dependence:
    """Estimate how repetitions depend on each other within their launches."""
    launches = launch_spread(cells)
    return pooled_dependence(launches.apart(cell.values, cell.launches) for cell in cells)


def pooled_spread(cells: Iterable[Sequence[float] | Sampled], dependence: Dependence | None = None) -> Spread:
    """Estimate from all ``cells`` what each tells of the noise of the others, and of launches.

    Each cell has samples above 0 in the order in which they were taken. ``dependence``: as more cells than these tell
    it.
    """
    found = [cell if isinstance(cell, Sampled) else Sampled(cell) for cell in cells]
    launches = launch_spread(found)
    usable = [launches.apart(cell.values, cell.launches) for cell in found if len(cell.values) > 1]
    inflation = (pooled_dependence(usable) if dependence is None else dependence).inflation
    freedoms = [len(samples) - 1 for samples in usable]
    seen = [_of_logs(tuple(samples))[1] for samples in usable]
    middle = median(seen or [0.0])
    least = max(_LEAST_OF_MEDIAN * middle, _LEAST_VARIANCE)
    if len(usable) < _FEWEST_CELLS:
        return Spread(inflation=inflation, least=least, launches=launches)
    telling = max(_LEAST_TELLING * middle, _LEAST_VARIANCE)
    centred = [
        math.log(max(value, telling)) - digamma(d / 2) + math.log(d / 2)
        for value, d in zip(seen, freedoms, strict=True)
    ]
    centre = fmean(centred)
    # What is noisy must not be taken for less noisy because most are: of few samples it may show no noise itself.
    mean = sum(map(mul, seen, freedoms)) / sum(freedoms)
    beyond = _variance(centred) - fmean(trigamma(d / 2) for d in freedoms)
    if beyond <= trigamma(_MOST_FREEDOM / 2):
        return Spread(max(math.exp(centre), mean), _MOST_FREEDOM, inflation, least, launches)
    half = _inverse_trigamma(beyond)
    variance = max(math.exp(centre + digamma(half) - math.log(half)), mean)
    return Spread(variance, 2 * half, inflation, least, launches)


def _variance(values: Sequence[float]) -> float:
    """Return the sample variance; that of the standard library is exact, and takes 50 times as long."""
    mean = fmean(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


@lru_cache(maxsize=1024)
def digamma(x: float) -> float:
    """Compute the digamma function by Abramowitz and Stegun 6.3.5 up to 6, by 6.3.18 beyond."""
    below = 0.0
    while x < 6:
        below += 1 / x
        x += 1
    square = 1 / (x * x)
    return math.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square / 252)) - below


@lru_cache(maxsize=1024)
def trigamma(x: float) -> float:
    """Compute the derivative of ``digamma``, by 6.4.6 and 6.4.12."""
    below = 0.0
    while x < 6:
        below += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    return below + 1 / x + square / 2 + square / x * (1 / 6 - square * (1 / 30 - square / 42))


def _inverse_trigamma(value: float) -> float:
    """Solve ``trigamma(x) = value`` by bisection of the logarithm of x: the function falls everywhere."""
    low, high = math.log(1e-3), math.log(_MOST_FREEDOM)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if trigamma(math.exp(middle)) > value else (low, middle)
    return math.exp((low + high) / 2)
