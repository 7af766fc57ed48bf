# SPDX-License-Identifier: Apache-2.0
"""The race between the settings that may be best: which of them to measure next, and when it is over.

The next is the one whose value raises the highest mean most, on average (Frazier, Powell and Dayanik 2009).
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from ullage.analysis.tuning.space import Setting
from ullage.analysis.tuning.surrogate import Posterior
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


_RACERS: Final = 80
# The race ends where no setting is expected to gain more than this, as a share of the best, among those that are ahead
# of the leader with this probability.
_LEAST_GAIN: Final = 0.002
_DROPPED_BELOW: Final = 0.05
_NORMAL: Final = NormalDist()


@dataclass(frozen=True)
class RaceState:
    """The state of the race: who leads it, and what to measure next.

    Both are places among the racers. ``wanted`` is None where the race is over.
    """

    leader: int
    wanted: int | None


def racers(posterior: Posterior, failed: set[Setting]) -> list[int]:
    """Return the places of the settings with the highest upper bounds, without those that ``failed``.

    One that was not measured yet may be among them.
    """
    bound = posterior.mean + posterior.deviation
    bound[posterior.among(failed)] = -math.inf
    order: list[int] = np.argsort(-bound)[:_RACERS].tolist()
    return [place for place in order if bound[place] > -math.inf]


def pick(mean: Array, covariance: Array, noise: float) -> RaceState:
    """Return the leader and the setting to measure next, which tells most of which is best.

    ``noise``: standard deviation of a trial.
    """
    leader = int(np.argmax(mean))
    variance = np.diag(covariance) + covariance[leader, leader] - 2 * covariance[leader]
    deviation = np.sqrt(np.maximum(variance, 1e-12))
    behind = (mean - mean[leader]) / deviation
    alive = [place for place in range(len(mean)) if place != leader and _NORMAL.cdf(behind[place]) > _DROPPED_BELOW]
    regret = expected_gain(mean - mean[leader], deviation)
    if max((regret[place] for place in alive), default=0.0) < _LEAST_GAIN:
        return RaceState(leader, None)
    return RaceState(leader, int(np.argmax(knowledge_gain(mean, covariance, noise**2))))
