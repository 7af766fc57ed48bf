# SPDX-License-Identifier: Apache-2.0
"""Intervals for a median from order statistics, whatever the distribution.

The number of samples below the median of their distribution is binomial (n, 1/2), so [x_(l), x_(u)] covers it with
P(l <= B < u) (Hahn and Meeker, Statistical Intervals, 5.2). Few of the levels that whole ranks have lie near 95 %: the
median's interval lies between two of them (Hettmansperger and Sheather 1986; Nyblom 1992; Hutson 1999), interpolated
in logarithms, so that a rate has the interval of its time. The engine's stop rule ``median-ci`` has the same formula
(engine/run/median_interval.cpp).
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, median, pstdev
from typing import Final

from ullage.analysis.statistics.order import quantile, two_sided_quantile

# A stop rule looks at the samples, and ends them where they happen to lie close together. That costs coverage; an
# interval at this share of the error gives it back (docs/statistics.md, "Rows").
_SHARE_OF_ERROR: Final = 0.75
_SIGN_TERMS: Final = 64


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of ``median`` (or of the statistic asked for). ``level_reached`` may lie below ``level``: few samples."""

    median: float
    low: float
    high: float
    level_reached: float
    level: float = 0.95

    @property
    def below_level(self) -> bool:
        """No interval of these samples reaches the level that was asked for."""
        return self.level_reached < self.level


def median_interval(samples: Sequence[float], level: float = 0.95, correlation: float = 0.0) -> Interval:
    """Return an interval that covers the median with ``level``, even where a stop rule looked at the samples before.

    For fewer samples than that needs (6 at 95 %) it is the full range, which covers with 1 - 2^(1-n); a single sample
    covers nothing (level reached 0). ``correlation``: of each sample with the one before, of all cells together; it
    widens the interval as fewer samples would. Raise ValueError without samples or with a level outside 0 and 1.
    """
    if not samples:
        raise ValueError("no samples")
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")
    ordered = sorted(samples)
    rank, weight, reached = _places(len(ordered), level, correlation)
    low, high = ordered[rank - 1], ordered[-rank]
    if weight > 0:
        low, high = _between(low, ordered[rank], weight), _between(high, ordered[-rank - 1], weight)
    return Interval(median(ordered), low, high, reached, level)


def fewest_samples(level: float = 0.95) -> int:
    """Return the fewest samples of which an interval of the median reaches ``level`` at all."""
    return next(n for n in range(2, 64) if _coverage(n, 1) >= 1 - (1 - level) * _SHARE_OF_ERROR)


def is_look(count: int) -> bool:
    """Tell whether a stop rule may stop for a narrow interval of so many samples: 6, 10, 15, 21, 28 ...

    Each further look is a further chance to stop where the samples happen to lie close together.
    """
    return count == next_look(count)


def next_look(count: int) -> int:
    """Return the next number of samples at which ``is_look`` holds, ``count`` itself included."""
    look = step = 3
    while look < max(count, 4):
        look, step = look + step, step + 1
    return look


def relative_width(interval: Interval) -> float | None:
    """Return half the log of high over low: half the width over the median, alike for rates and their times.

    Where the lower bound is not above 0 the plain values are used; return None when the median is 0 then.
    """
    if interval.low > 0:
        return math.log(interval.high / interval.low) / 2
    if interval.median == 0:
        return None
    return (interval.high - interval.low) / 2 / abs(interval.median)


def _between(outer: float, inner: float, weight: float) -> float:
    """Return the point at ``weight`` of the way inwards, in logs where both are above 0; never beyond either."""
    if min(outer, inner) > 0:
        found = math.exp((1 - weight) * math.log(outer) + weight * math.log(inner))
    else:
        found = (1 - weight) * outer + weight * inner
    return min(max(found, min(outer, inner)), max(outer, inner))


@lru_cache(maxsize=4096)
def _places(n: int, level: float, correlation: float) -> tuple[int, float, float]:
    """Return the rank k of the outer pair of order statistics, the weight of the next pair inwards, and the level.

    The level is ``level``, or what the samples reach where they are too few.
    """
    wanted = 1 - (1 - level) * _SHARE_OF_ERROR
    normal, stretch = NormalDist(), _stretch(n, correlation)
    if stretch > 1:
        wanted = 2 * normal.cdf(stretch * normal.inv_cdf((1 + wanted) / 2)) - 1
    widest = _coverage(n, 1) if n > 1 else 0.0
    if widest < wanted:
        if stretch > 1:
            shrunk = 2 * normal.cdf(normal.inv_cdf((1 + widest) / 2) / stretch) - 1
            widest = max(0.0, 1 - (1 - shrunk) / _SHARE_OF_ERROR)
        return 1, 0.0, widest
    # The search begins where many samples would have it: from 1 on it takes minutes for the numbers of a long log.
    rank = max(1, int(n / 2 - normal.inv_cdf((1 + wanted) / 2) * math.sqrt(n) / 2) - 1)
    while rank > 1 and _coverage(n, rank) <= wanted:
        rank -= 1
    while _coverage(n, rank + 1) > wanted:
        rank += 1
    outer, inner = _coverage(n, rank), _coverage(n, rank + 1)
    share = (outer - wanted) / (outer - inner)
    return rank, (n - rank) * share / (rank + (n - 2 * rank) * share), level


@lru_cache(maxsize=4096)
def _coverage(n: int, rank: int) -> float:
    """Return how often [x_(rank), x_(n+1-rank)] covers the median.

    Beyond the middle it is minus the coverage of the pair the other way round.
    """
    return 1 - 2 * sum(_binomial(n, k, 0.5) for k in range(rank))


@lru_cache(maxsize=4096)
def _stretch(n: int, correlation: float) -> float:
    """Return the factor by which the median's error grows where each sample is correlated with the one before.

    As many samples lie below the median of a normal first-order autoregressive series as it gives signs: those of
    distance k are correlated by 2/pi asin(correlation^k).
    """
    if correlation <= 0:
        return 1.0
    terms = ((1 - k / n) * 2 / math.pi * math.asin(correlation**k) for k in range(1, min(n, _SIGN_TERMS)))
    return math.sqrt(1 + 2 * sum(terms))


def binomial_tail(n: int, k: int, q: float) -> float:
    """Return the chance of ``k`` or more of ``n`` independent events with the chance ``q``, 0 < q < 1, each."""
    return min(sum(_binomial(n, count, q) for count in range(k, n + 1)), 1.0)


def _binomial(n: int, k: int, q: float) -> float:
    log_choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log_choose + k * math.log(q) + (n - k) * math.log1p(-q))


Statistic = Callable[[Sequence[float]], float]


def bootstrap_interval(
    samples: Sequence[float], statistic: Statistic, *, level: float = 0.95, resamples: int = 2000, seed: int = 1
) -> Interval:
    """Return the bias-corrected and accelerated interval of ``statistic`` (Efron 1987), the same for the same seed.

    Of n samples the resamples scatter by sqrt(1 - 1/n) less than the statistic does, and their spread is known no
    better than by n samples: the interval is widened by both, as Student's t is (Hesterberg 2015, section 5.3). No
    resample lies beyond the samples, so it is at least that of Student's t with the resamples' own deviation.
    ``Interval.median`` holds the statistic of the samples themselves. A single sample has no interval: level reached 0.
    """
    if not samples:
        raise ValueError("no samples")
    if not 0 < level < 1 or resamples < 1:
        raise ValueError("the level lies between 0 and 1, and there is at least 1 resample")
    estimate = statistic(samples)
    if len(samples) == 1:
        return Interval(estimate, estimate, estimate, 0.0, level)
    draw = random.Random(seed)  # noqa: S311 -- resampling, not a secret
    values = [statistic(draw.choices(samples, k=len(samples))) for _ in range(resamples)]
    # So many deviations of the resamples an interval of Student's t reaches to either side.
    reach = math.sqrt(len(samples) / (len(samples) - 1)) * two_sided_quantile(level, len(samples) - 1)
    low, high = _levels(samples, statistic, estimate, values, 2 * NormalDist().cdf(reach) - 1)
    plain = reach * pstdev(values)
    bounds = min(quantile(values, low), estimate - plain), max(quantile(values, high), estimate + plain)
    return Interval(estimate, *bounds, level, level)


def _levels(
    samples: Sequence[float], statistic: Statistic, estimate: float, values: Sequence[float], level: float
) -> tuple[float, float]:
    """Return which quantiles of the resampled values bound the interval."""
    normal = NormalDist()
    below = sum(value < estimate for value in values) + sum(value == estimate for value in values) / 2
    share = min(max(below / len(values), 0.5 / len(values)), 1 - 0.5 / len(values))
    bias = normal.inv_cdf(share)
    # The jackknife's skewness tells how fast the statistic's spread changes with its value.
    left_out = [statistic([*samples[:index], *samples[index + 1 :]]) for index in range(len(samples))]
    mean = sum(left_out) / len(left_out)
    squares = sum((mean - value) ** 2 for value in left_out)
    acceleration = sum((mean - value) ** 3 for value in left_out) / (6 * squares**1.5) if squares > 0 else 0.0

    def corrected(probability: float) -> float:
        z = bias + normal.inv_cdf(probability)
        return normal.cdf(bias + z / max(1 - acceleration * z, 1e-9))

    return corrected((1 - level) / 2), corrected((1 + level) / 2)
