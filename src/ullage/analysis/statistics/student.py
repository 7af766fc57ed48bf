# SPDX-License-Identifier: Apache-2.0
"""Student's t, without a library that takes longer to load than everything else."""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

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
    # Newton's steps on the logarithm of p rise to the quantile from the normal one, and never pass it.
    for _ in range(_MOST_STEPS):
        p = two_sided_p(t, freedom)
        step = math.log(p / wanted) * p / (2 * _density(t, freedom))
        t += step
        if abs(step) < 1e-12 * t:
            break
    return t


def _density(t: float, freedom: float) -> float:
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(log_scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))


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
