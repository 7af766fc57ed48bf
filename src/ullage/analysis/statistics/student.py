# SPDX-License-Identifier: Apache-2.0
"""Quantiles of Student's t, without a library that takes longer to load than everything else."""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

_NEARLY_NORMAL: Final = 400


@lru_cache(maxsize=4096)
def two_sided_quantile(level: float, freedom: int) -> float:
    """The t that a variable of ``freedom`` degrees exceeds in size with probability ``1 - level``."""
    if not 0 < level < 1 or freedom < 1:
        raise ValueError(f"no quantile at level {level} with {freedom} degrees of freedom")
    if freedom > _NEARLY_NORMAL:
        return NormalDist().inv_cdf((1 + level) / 2)
    low, high = 0.0, 1.0
    while _within(high, freedom) < level:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
    return (low + high) / 2


def _within(t: float, freedom: int) -> float:
    """P(-t < T < t): Abramowitz and Stegun 26.7.3 and 26.7.4, exact for whole degrees of freedom."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom == 1:
        return 2 * angle / math.pi
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term
    for k in range(2 + odd, freedom - 1, 2):
        term *= (k - 1) / k * cosine * cosine
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
