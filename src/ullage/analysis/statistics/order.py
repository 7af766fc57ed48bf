# SPDX-License-Identifier: Apache-2.0
"""Quantiles, the spread around the median, the exact rank test of Wilcoxon, Mann and Whitney, and Student's t."""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist, median
from typing import Final

# In a normal distribution the standard deviation is this many times the median absolute deviation.
NORMAL_CONSISTENCY: Final = 1.4826022185056018


def mad(samples: Sequence[float], *, consistent: bool = False) -> float:
    """Return the median absolute deviation from the median.

    ``consistent``: scale it to estimate the standard deviation of a normal distribution.
    """
    centre = median(samples)
    spread = median([abs(value - centre) for value in samples])
    return spread * NORMAL_CONSISTENCY if consistent else spread


def quantile(samples: Sequence[float], q: float) -> float:
    """Interpolate linearly between order statistics (Hyndman and Fan's type 7, the default of numpy and R).

    Raise ValueError without samples or for a ``q`` outside 0 and 1.
    """
    if not 0 <= q <= 1:
        raise ValueError(f"quantile {q} is not within 0 and 1")
    ordered = sorted(samples)
    if not ordered:
        raise ValueError("no samples")
    place = q * (len(ordered) - 1)
    below = min(int(place), len(ordered) - 2) if len(ordered) > 1 else 0
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    return min(max(low + (place - below) * (high - low), low), high)


# Beyond so many samples the normal approximation is as good, and the exact sum takes too long.
_MOST_EXACT: Final = 80


def rank_test(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p: how often a random division of all samples lies as far apart as this one.

    Ties share their rank. Above 80 samples p is that of the normal approximation.
    """
    ranks = _doubled_ranks([*first, *second])
    total, of_first = sum(ranks), sum(ranks[: len(first)])
    if len(ranks) > _MOST_EXACT:
        return _approximate(ranks, of_first, len(first))
    counts = _sums(tuple(sorted(ranks)), len(first))
    expected = total * len(first) / len(ranks)
    distance = abs(of_first - expected) - 1e-9
    as_far = sum(count for rank_sum, count in counts if abs(rank_sum - expected) >= distance)
    return as_far / math.comb(len(ranks), len(first))


def are_apart(first: Sequence[float], second: Sequence[float]) -> bool:
    """Tell whether the ranges do not overlap: then no division of the samples lies farther apart."""
    return max(first) < min(second) or max(second) < min(first)


def _doubled_ranks(samples: Sequence[float]) -> list[int]:
    """Return twice the mean rank of each sample among all, a whole number."""
    ordered = sorted(samples)
    first: dict[float, int] = {}
    count: dict[float, int] = {}
    for place, value in enumerate(ordered):
        first.setdefault(value, place)
        count[value] = count.get(value, 0) + 1
    return [2 * first[value] + count[value] + 1 for value in samples]


@lru_cache(maxsize=512)
def _sums(ranks: tuple[int, ...], size: int) -> tuple[tuple[int, int], ...]:
    """Count the subsets of ``size`` ranks that have each sum; return pairs of sum and count.

    The counts of one size stand side by side in the digits of one large number, wide enough that none spills over.
    """
    width = len(ranks) + 1
    subsets = [1] + [0] * size
    for rank in ranks:
        for k in range(size, 0, -1):
            subsets[k] += subsets[k - 1] << (rank * width)
    mask, found, rest = (1 << width) - 1, list[tuple[int, int]](), subsets[size]
    for rank_sum in range(sum(ranks) + 1):
        if not rest:
            break
        if count := rest & mask:
            found.append((rank_sum, count))
        rest >>= width
    return tuple(found)


def _approximate(ranks: Sequence[int], of_first: int, size: int) -> float:
    """Return p by the normal approximation, with the variance that the ranks have with their ties."""
    n = len(ranks)
    mean = sum(ranks) / n
    spread = sum((rank - mean) ** 2 for rank in ranks) / n
    variance = size * (n - size) / (n - 1) * spread
    if variance <= 0:
        return 1.0
    return math.erfc(max(0.0, abs(of_first - size * mean) - 1) / math.sqrt(2 * variance))


_NEARLY_NORMAL: Final = 1e5
_TINY: Final = 1e-300
_MOST_TERMS: Final = 500
_MOST_STEPS: Final = 60


@lru_cache(maxsize=4096)
def two_sided_quantile(level: float, freedom: float) -> float:
    """Return the t whose size a variable of ``freedom`` degrees exceeds with probability ``1 - level``."""
    if not 0 < level < 1 or freedom < 1:
        raise ValueError(f"no quantile at level {level} with {freedom} degrees of freedom")
    if freedom > _NEARLY_NORMAL:
        return NormalDist().inv_cdf((1 + level) / 2)
    wanted, t = 1 - level, NormalDist().inv_cdf((1 + level) / 2)
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    # Newton's steps on the logarithm of p rise to the quantile from the normal one, and never pass it.
    for _ in range(_MOST_STEPS):
        p = two_sided_p(t, freedom)
        density = math.exp(log_scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = math.log(p / wanted) * p / (2 * density)
        t += step
        if abs(step) < 1e-12 * t:
            break
    return t


def two_sided_p(t: float, freedom: float) -> float:
    """Return P(|T| > t), by Abramowitz and Stegun 26.7.1, for any degrees of freedom."""
    if freedom > _NEARLY_NORMAL:
        return math.erfc(abs(t) / math.sqrt(2))
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised I_x(a, b), by the continued fraction 26.5.8 on the side where it converges fast."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction forwards (Lentz 1976)."""
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _MOST_TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _off_zero(1 + term * d)
            c = _off_zero(1 + term / c)
            found *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return found


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
