# SPDX-License-Identifier: Apache-2.0
"""The race between the settings that may be best: which of them to measure next, when it is over, and which is best.

The next is the one whose value raises the highest mean most, on average (Frazier, Powell and Dayanik 2009).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Final

from ullage.analysis.tuning.space import Setting, Settings, Space
from ullage.analysis.tuning.surrogate import Array, Posterior, Scales, Trials
from ullage.arrays import np

# Values of a standard normal number that stand for equal parts of its distribution, for means over what may come.
_DRAWS: Final = np.array([-2.13, -1.38, -0.93, -0.57, -0.25, 0.0, 0.25, 0.57, 0.93, 1.38, 2.13])


def expected_gain(ahead: Array, deviation: Array) -> Array:
    """Return E[max(0, X)] of normal X with these means and deviations."""
    z = ahead / deviation
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    # The normal distribution function by Abramowitz and Stegun 26.2.17, off by at most 7.5e-8.
    t = 1 / (1 + 0.2316419 * np.abs(z))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * series
    return ahead * np.where(z >= 0, 1 - tail, tail) + deviation * density


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


# That is by the mean of several smooth trends near the top. A cliff or a far hill bends a model of all trials, also
# where it expects the most, so only settings near the leader count here. What their trials make likely decides between
# the trends: the mean over them is weighted by their marginal likelihoods (Bayesian model averaging: Hoeting, Madigan,
# Raftery and Volinsky 1999).

# Settings count that are expected to reach this share of the leader, as a logarithm.
_NEAR: Final = 1.0
# The trends are smooth over so many places of an ordered parameter. These are variances of the logarithm: of what each
# parameter does alone, by jumps between values, and of what all do together.
_PLACES: Final = (2.0, 3.0)
_ALONE: Final = 0.02
_SMOOTH: Final = math.log(1e-7)
_ROUGH: Final = (_SMOOTH, math.log(0.003))
_TOGETHER: Final = (0.01, 0.1)
# What the likelihood has to gain by jumps, as a logarithm.
_ROUGH_GAIN: Final = 5.0
# A trend of less weight than this has no part in what the race expects.
_LEAST_WEIGHT: Final = 0.02


def choose(posterior: Posterior, trials: Trials) -> Setting:
    """Return the setting of ``trials`` with the highest mean of all trends. ``posterior``: what it expects of each."""
    near = _near(posterior, trials)
    settings = list(dict.fromkeys(near.settings))
    trends, weights = _weighted(posterior, near, np.array(settings, dtype=np.int64))
    mean = weights @ np.array([trend.mean for trend in trends])
    return settings[int(np.argmax(mean))]


def expect(posterior: Posterior, trials: Trials, places: Sequence[int]) -> tuple[list[int], Array, Array]:
    """Return which of ``places`` of the posterior are near the leader, and what the trends expect of their settings.

    That is mean and covariance matrix of the mixture of all trends: theirs, and how far their means are apart.
    """
    least = _least(posterior.mean[posterior.places(trials.settings)])
    found = [place for place in places if posterior.mean[place] >= least]
    found = found or posterior.places([choose(posterior, trials)])
    trends, weights = _weighted(posterior, _near(posterior, trials), posterior.settings[found])
    weights = np.where(weights < _LEAST_WEIGHT, 0.0, weights)
    weights /= np.sum(weights)
    mean: Array = weights @ np.array([trend.mean for trend in trends])
    covariance = np.zeros((len(found), len(found)))
    for weight, trend in zip(weights, trends, strict=True):
        if weight > 0:
            own, apart = trend.joint(range(len(found)))[1] / trend.spread**2, trend.mean - mean
            covariance += weight * (own + np.outer(apart, apart))
    return found, mean, covariance


def _least(expected: Array) -> float:
    """Return what a setting has to be expected to reach to be near the leader. ``expected``: of the measured ones."""
    return float(np.max(expected)) - _NEAR


def _near(posterior: Posterior, trials: Trials) -> Trials:
    """Return the trials of settings that are expected to be near the leader."""
    expected = posterior.mean[posterior.places(trials.settings)]
    return trials.of(np.flatnonzero(expected >= _least(expected)).tolist())


def _weighted(posterior: Posterior, near: Trials, rows: Settings) -> tuple[list[Posterior], Array]:
    """Return all trends of ``rows`` after the trials ``near`` the leader, and their weights, of sum 1."""
    trends = [Posterior(posterior.space, rows, scales, near) for scales in _trends(posterior)]
    evidence = np.array([trend.evidence - _ROUGH_GAIN * (trend.scales.rough > _SMOOTH) for trend in trends])
    weights = np.exp(evidence - np.max(evidence))
    return trends, np.asarray(weights / np.sum(weights), dtype=np.float64)


def _trends(posterior: Posterior) -> Iterator[Scales]:
    unit = 2 * math.log(posterior.spread)
    noise, drift = posterior.scales.noise + unit, posterior.scales.drift + unit
    for places, rough, together in product(_PLACES, _ROUGH, _TOGETHER):
        lengths = tuple(_length(posterior.space, place, places) for place in range(len(posterior.space.dimensions)))
        yield Scales(lengths, math.log(_ALONE), rough, math.log(together), noise, drift, smooth=True)


def _length(space: Space, place: int, places: float) -> float:
    one = space.dimensions[place]
    return math.log(places / max(1, len(one.values) - 1)) if one.ordered else 0.0
