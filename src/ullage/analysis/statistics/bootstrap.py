# SPDX-License-Identifier: Apache-2.0
"""Bootstrap intervals for scores: formulas over many metrics whose distribution nobody knows."""

import math
import random
from collections.abc import Callable, Sequence
from statistics import NormalDist, pstdev

from ullage.analysis.statistics.intervals import Interval
from ullage.analysis.statistics.order import quantile
from ullage.analysis.statistics.student import two_sided_quantile

Statistic = Callable[[Sequence[float]], float]


def bootstrap_interval(
    samples: Sequence[float], statistic: Statistic, *, level: float = 0.95, resamples: int = 2000, seed: int = 1
) -> Interval:
    """Bias-corrected and accelerated interval of ``statistic`` (Efron 1987), the same for the same seed.

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
    reach = _reach(level, len(samples))
    low, high = _levels(samples, statistic, estimate, values, 2 * NormalDist().cdf(reach) - 1)
    plain = reach * pstdev(values)
    bounds = min(quantile(values, low), estimate - plain), max(quantile(values, high), estimate + plain)
    return Interval(estimate, *bounds, level, level)


def _reach(level: float, n: int) -> float:
    """How many deviations of the resamples an interval of Student's t reaches to either side."""
    return math.sqrt(n / (n - 1)) * two_sided_quantile(level, n - 1)


def _levels(
    samples: Sequence[float], statistic: Statistic, estimate: float, values: Sequence[float], level: float
) -> tuple[float, float]:
    """Which quantiles of the resampled values bound the interval."""
    normal = NormalDist()
    below = sum(value < estimate for value in values) + sum(value == estimate for value in values) / 2
    share = min(max(below / len(values), 0.5 / len(values)), 1 - 0.5 / len(values))
    bias = normal.inv_cdf(share)
    acceleration = _acceleration(samples, statistic)

    def corrected(probability: float) -> float:
        z = bias + normal.inv_cdf(probability)
        return normal.cdf(bias + z / max(1 - acceleration * z, 1e-9))

    return corrected((1 - level) / 2), corrected((1 + level) / 2)


def _acceleration(samples: Sequence[float], statistic: Statistic) -> float:
    """Skewness of the jackknife: how fast the statistic's spread changes with its value."""
    left_out = [statistic([*samples[:index], *samples[index + 1 :]]) for index in range(len(samples))]
    mean = sum(left_out) / len(left_out)
    squares = sum((mean - value) ** 2 for value in left_out)
    return sum((mean - value) ** 3 for value in left_out) / (6 * squares**1.5) if squares > 0 else 0.0
