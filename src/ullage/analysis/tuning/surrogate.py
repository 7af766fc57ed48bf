# SPDX-License-Identifier: Apache-2.0
"""What the trials so far say of every setting: a Gaussian process over the logarithm of the objective.

Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 5. The kernel is Matern 5/2 with a
length for each parameter; parameters without an order are either equal or not. A second term lets the machine drift
from trial to trial, which the repeated default shows. Logarithms make noise that is a share of the value alike
everywhere. Lengths, noise and drift are those of the highest posterior density.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ullage.analysis.tuning.space import Setting, Space

Array: TypeAlias = NDArray[np.float64]
# These are logarithms, for values with a deviation of 1: the middle of what is expected, and how far it may be off.
# They are of the length of a parameter and of the variances of response, noise and drift.
_LENGTH: Final = (math.log(0.6), 0.8)
_RESPONSE: Final = (0.0, 1.0)
_NOISE: Final = (math.log(0.05), 2.0)
_DRIFT: Final = (math.log(0.003), 2.0)
# After so many trials a drift has changed into another.
_DRIFT_TRIALS: Final = 30.0
_STEPS: Final = (1.2, 0.6, 0.3)
_JITTER: Final = 1e-8


@dataclass(frozen=True)
class Trials:
    """What was measured: settings, the logarithm of the objective (more is better), and the turn of each trial."""

    settings: Sequence[Setting]
    logs: Sequence[float]
    turns: Sequence[float]

    def first(self, count: int) -> "Trials":
        """Return the first ``count`` trials."""
        return Trials(self.settings[:count], self.logs[:count], self.turns[:count])


@dataclass(frozen=True)
class Scales:
    """Logarithms: of each parameter's length, and of the variances of response, noise and drift."""

    lengths: tuple[float, ...]
    response: float = _RESPONSE[0]
    noise: float = _NOISE[0]
    drift: float = _DRIFT[0]

    def values(self) -> list[float]:
        """Return all scales in one list."""
        return [*self.lengths, self.response, self.noise, self.drift]

    @classmethod
    def of(cls, values: Sequence[float]) -> "Scales":
        """Make scales from a list as ``values`` returns it."""
        return cls(tuple(values[:-3]), *values[-3:])


@dataclass(frozen=True)
class Surrogate:
    """A fitted process. ``center`` and ``spread`` bring its values back to logarithms of the objective."""

    space: Space
    scales: Scales
    points: Array
    inverse: Array
    weights: Array
    center: float
    spread: float

    @property
    def noise(self) -> float:
        """Standard deviation of the logarithm of one trial."""
        return self.spread * math.exp(self.scales.noise / 2)

    def predict(self, settings: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return mean and standard deviation of the logarithm at rows of ``settings``, without noise and drift."""
        cross, explained = self._cross(settings)
        mean = self.center + self.spread * (self.weights @ cross)
        variance = np.maximum(math.exp(self.scales.response) - np.sum(explained**2, axis=0), 1e-12)
        return mean, self.spread * np.sqrt(variance)

    def joint(self, settings: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return mean and covariance matrix of the logarithms at rows of ``settings``."""
        cross, explained = self._cross(settings)
        mean = self.center + self.spread * (self.weights @ cross)
        points = self.space.coordinates(settings)
        own = _response(self.space, points, points, self.scales)
        return mean, self.spread**2 * (own - explained.T @ explained)

    def _cross(self, settings: NDArray[np.int64]) -> tuple[Array, Array]:
        cross = _response(self.space, self.points, self.space.coordinates(settings), self.scales)
        return cross, self.inverse @ cross


def fit(space: Space, trials: Trials, scales: Scales | None = None) -> Surrogate:
    """Fit the process that ``trials`` (two at least) make likely; given ``scales`` are taken as they are."""
    logs, turns = np.array(trials.logs), np.array(trials.turns)
    points = space.coordinates(np.array(trials.settings, dtype=np.int64))
    spread = max(float(np.std(logs)), 1e-3)
    values: Array = np.asarray((logs - np.mean(logs)) / spread, dtype=np.float64)
    lag = np.exp(-np.abs(turns[:, None] - turns[None, :]) / _DRIFT_TRIALS)
    known = _Known(space, points, lag)
    found = _likeliest(values, known) if scales is None else scales
    inverse = _inverse(known.covariance(found))
    mean = _mean(inverse, values)
    weights = inverse.T @ (inverse @ (values - mean))
    center = float(np.mean(logs)) + spread * mean
    return Surrogate(space, found, points, inverse, weights, center, spread)


@dataclass(frozen=True)
class _Known:
    """Where and when was measured. ``lag``: how alike the machine is at each two trials."""

    space: Space
    points: Array
    lag: Array

    def covariance(self, scales: Scales) -> Array:
        """Return the covariance matrix of all trials: response, drift and noise."""
        own = math.exp(scales.noise) + _JITTER
        response = _response(self.space, self.points, self.points, scales)
        return response + math.exp(scales.drift) * self.lag + own * np.eye(len(self.lag))


def _embedded(space: Space, points: Array, scales: Scales) -> Array:
    """Map points so that their squared distances are those of the kernel.

    Each value of a parameter without an order has an axis of its own.
    """
    columns: list[Array] = []
    for place, (dimension, length) in enumerate(zip(space.dimensions, scales.lengths, strict=True)):
        column = points[:, place][:, None]
        if not dimension.ordered:
            column = (column == np.arange(len(dimension.values))[None, :]) / math.sqrt(2)
        columns.append(column * math.exp(-length))
    return np.hstack(columns)


def _response(space: Space, first: Array, second: Array, scales: Scales) -> Array:
    """Return the covariance of the response between all pairs of ``first`` and ``second``."""
    one, other = _embedded(space, first, scales), _embedded(space, second, scales)
    squared = np.sum(one**2, axis=1)[:, None] + np.sum(other**2, axis=1)[None, :] - 2 * (one @ other.T)
    far = np.sqrt(np.maximum(5 * squared, 0.0))
    return math.exp(scales.response) * (1 + far + far * far / 3) * np.exp(-far)


def _inverse(covariance: Array) -> Array:
    """Return the inverse of the lower triangular (Cholesky) factor."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)), dtype=np.float64)


def _mean(inverse: Array, values: Array) -> float:
    """Return the constant that generalised least squares give."""
    ones = inverse @ np.ones(len(values))
    return float(ones @ (inverse @ values)) / float(ones @ ones)


def _likeliest(values: Array, known: _Known) -> Scales:
    """Step along each scale in turn, smaller steps after larger ones, as long as the posterior density gains."""
    expected = [*([_LENGTH] * len(known.space.dimensions)), _RESPONSE, _NOISE, _DRIFT]

    def density(point: list[float]) -> float:
        off = sum(((at - middle) / width) ** 2 for at, (middle, width) in zip(point, expected, strict=True))
        return _likelihood(values, known, Scales.of(point)) - off / 2

    best = [middle for middle, _ in expected]
    reached = density(best)
    for step in _STEPS:
        for place in range(len(best)):
            for way in (step, -step):
                moved, reached_before = True, reached
                while moved:
                    tried = [*best]
                    tried[place] += way
                    value = density(tried)
                    moved = value > reached
                    best, reached = (tried, value) if moved else (best, reached)
                if reached > reached_before:
                    break
    return Scales.of(best)


def _likelihood(values: Array, known: _Known, scales: Scales) -> float:
    factor = np.linalg.cholesky(known.covariance(scales))
    both = np.linalg.solve(factor, np.column_stack([values, np.ones(len(values))]))
    mean = float(both[:, 1] @ both[:, 0]) / float(both[:, 1] @ both[:, 1])
    off = both[:, 0] - mean * both[:, 1]
    return -float(off @ off) / 2 - float(np.sum(np.log(np.diag(factor))))
