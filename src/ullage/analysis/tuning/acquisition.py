# SPDX-License-Identifier: Apache-2.0
"""What a further trial of a setting is worth: the improvement to be expected there, and what its value would teach."""

import math
from typing import Final

from ullage.arrays import NDArray, np

Array = NDArray[np.float64]
# Values of a standard normal number that stand for equal parts of its distribution, for means over what may come.
_DRAWS: Final = np.array([-2.13, -1.38, -0.93, -0.57, -0.25, 0.0, 0.25, 0.57, 0.93, 1.38, 2.13])


def expected_gain(ahead: Array, deviation: Array) -> Array:
    """Return E[max(0, X)] of normal X with these means and deviations."""
    z = ahead / deviation
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return ahead * _cumulative(z) + deviation * density


def _cumulative(z: Array) -> Array:
    """Return the normal distribution function by Abramowitz and Stegun 26.2.17, off by at most 7.5e-8."""
    t = 1 / (1 + 0.2316419 * np.abs(z))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * series
    return np.where(z >= 0, 1 - tail, tail)


def knowledge_gain(mean: Array, covariance: Array, noise: float) -> Array:
    """Return by how much the highest expected value rises, on average, once each setting is measured.

    ``noise``: variance of the trial. A setting that is alike others tells of them, too (the knowledge gradient for
    correlated beliefs: Frazier, Powell and Dayanik 2009).
    """
    slopes = covariance / np.sqrt(np.maximum(np.diag(covariance), 0.0) + noise)[None, :]
    after = mean[:, None, None] + slopes[:, :, None] * _DRAWS[None, None, :]
    return np.mean(np.max(after, axis=0), axis=1) - np.max(mean)
