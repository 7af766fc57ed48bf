# SPDX-License-Identifier: Apache-2.0
"""Is one setting faster than another: a ratio, its interval, and one of three words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics.order import median
from ullage.analysis.statistics.student import two_sided_quantile

ComparisonVerdict: TypeAlias = Literal["faster", "slower", "cannot tell"]
Better: TypeAlias = Literal["more", "less"]
_FEW: Final = 6


@dataclass(frozen=True, slots=True)
class Comparison:
    """``ratio`` of the medians, first over second; bounds are null where a single sample says nothing of its noise.

    ``verdict`` is of the first: ``faster`` means better, whichever direction of the value that is.
    """

    ratio: float
    low: float | None
    high: float | None
    verdict: ComparisonVerdict
    level: float


def compare(
    first: Sequence[float],
    second: Sequence[float],
    *,
    better: Better = "more",
    level: float = 0.95,
    noise: float | None = None,
) -> Comparison:
    """Compare two sets of samples above 0 by the interval of the ratio of their medians.

    The interval is Price and Bonett's (J. Stat. Comput. Simul. 72, 2002): the variance of a log median from two order
    statistics, which assumes no distribution and holds for few samples; here with Student's t instead of z, which keeps
    the level down to 3 against 3 samples. Below 6 samples a verdict also needs ranges that do not overlap.

    ``noise`` is the standard deviation of the log of one value, for sides of one sample; without it those say
    ``cannot tell``. ``ValueError`` without samples or for samples that are not above 0.
    """
    if not first or not second or min(*first, *second) <= 0:
        raise ValueError("a comparison needs samples above 0 on both sides")
    ratio = median(first) / median(second)
    spread = _log_spread(first, second, level, noise)
    if spread is None:
        return Comparison(ratio, None, None, "cannot tell", level)
    low, high = ratio * math.exp(-spread), ratio * math.exp(spread)
    apart = low > 1 or high < 1
    if min(len(first), len(second)) < _FEW:
        apart = apart and (max(first) < min(second) or max(second) < min(first))
    return Comparison(ratio, low, high, _verdict(ratio, better) if apart else "cannot tell", level)


def _verdict(ratio: float, better: Better) -> ComparisonVerdict:
    return "faster" if (ratio > 1) == (better == "more") else "slower"


def _log_spread(first: Sequence[float], second: Sequence[float], level: float, noise: float | None) -> float | None:
    """Half the width of the interval of the log ratio; None: nothing known."""
    variance, freedom = 0.0, 0
    for samples in (first, second):
        if len(samples) > 1:
            variance += _log_median_variance(samples)
            freedom += len(samples) - 1
        elif noise is not None:
            variance += noise * noise
        else:
            return None
    both_repeated = len(first) > 1 and len(second) > 1
    factor = two_sided_quantile(level, freedom) if both_repeated else NormalDist().inv_cdf((1 + level) / 2)
    return min(factor * math.sqrt(variance), 700.0)


def _log_median_variance(samples: Sequence[float]) -> float:
    """Bonett and Price, Psychological Methods 7 (2002), equation 5, of the logs."""
    ordered = sorted(samples)
    rank, z = _bonett_rank(len(ordered))
    return ((math.log(ordered[-rank]) - math.log(ordered[rank - 1])) / (2 * z)) ** 2


@lru_cache(maxsize=4096)
def _bonett_rank(n: int) -> tuple[int, float]:
    """Which order statistics, and the normal quantile that their exact coverage stands for."""
    rank = max(1, round((n + 1) / 2 - math.sqrt(n)))
    outside = 2 * sum(math.comb(n, k) for k in range(rank)) / 2**n
    return rank, NormalDist().inv_cdf(1 - outside / 2)
