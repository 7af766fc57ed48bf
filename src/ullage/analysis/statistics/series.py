# SPDX-License-Identifier: Apache-2.0
"""What the order and the tails of samples say. Labels only: nothing is ever dropped for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.analysis.statistics.order import quantile


def autocorrelation(samples: Sequence[float], lag: int = 1) -> float | None:
    """Correlation of samples with those ``lag`` later, in the order they were taken; None when it has no meaning.

    Above 0.2 the samples are not independent and their interval is too narrow.
    """
    n = len(samples)
    if lag < 1:
        raise ValueError(f"lag {lag} is below 1")
    if n < lag + 2:
        return None
    mean = sum(samples) / n
    centred = [value - mean for value in samples]
    power = sum(value * value for value in centred)
    # Rounding leaves a trace of power in equal samples.
    if power <= n * (1e-12 * mean) ** 2:
        return None
    return sum(a * b for a, b in zip(centred, centred[lag:], strict=False)) / power


@dataclass(frozen=True, slots=True)
class Fences:
    """Tukey's inner fences: what lies outside is labelled an outlier."""

    low: float
    high: float


def tukey_fences(samples: Sequence[float], reach: float = 1.5) -> Fences:
    """Quartiles moved out by ``reach`` times their distance (3: the outer fences)."""
    first, third = quantile(samples, 0.25), quantile(samples, 0.75)
    return Fences(first - reach * (third - first), third + reach * (third - first))


def outliers(samples: Sequence[float], reach: float = 1.5) -> list[int]:
    """Indices of the samples outside Tukey's fences."""
    if not samples:
        return []
    fences = tukey_fences(samples, reach)
    return [index for index, value in enumerate(samples) if not fences.low <= value <= fences.high]
