# SPDX-License-Identifier: Apache-2.0
"""Quantiles and the spread around the median."""

from collections.abc import Iterable, Sequence
from typing import Final

# In a normal distribution the standard deviation is this many times the median absolute deviation.
NORMAL_CONSISTENCY: Final = 1.4826022185056018


def median(samples: Iterable[float]) -> float:
    """Return the middle value, or the mean of the two middle ones; raise ValueError without samples."""
    return median_of_sorted(sorted(samples))


def median_of_sorted(ordered: Sequence[float]) -> float:
    """Return the ``median`` of samples that already rise."""
    if not ordered:
        raise ValueError("no samples")
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


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
