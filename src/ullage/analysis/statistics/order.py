# SPDX-License-Identifier: Apache-2.0
"""Quantiles and the spread around the median."""

from collections.abc import Iterable, Sequence
from typing import Final

# In a normal distribution the standard deviation is this many times the median absolute deviation.
NORMAL_CONSISTENCY: Final = 1.4826022185056018


def median(samples: Iterable[float]) -> float:
    """Middle value, of an even number the mean of the two middle ones. ``ValueError`` without samples."""
    return median_of_sorted(sorted(samples))


def median_of_sorted(ordered: Sequence[float]) -> float:
    """``median`` of samples that already rise."""
    if not ordered:
        raise ValueError("no samples")
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def mad(samples: Sequence[float], *, consistent: bool = False) -> float:
    """Median absolute deviation from the median; ``consistent``: scaled to estimate a normal standard deviation."""
    centre = median(samples)
    spread = median([abs(value - centre) for value in samples])
    return spread * NORMAL_CONSISTENCY if consistent else spread


def quantile(samples: Sequence[float], q: float) -> float:
    """Linear interpolation between order statistics (Hyndman and Fan's type 7, the default of numpy and R)."""
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
