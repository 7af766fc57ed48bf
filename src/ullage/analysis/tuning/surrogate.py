# SPDX-License-Identifier: Apache-2.0
"""What the trials so far say of every setting: a Gaussian process over the logarithm of the objective.

Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 5. The kernel of a parameter is
Matern 5/2 with a length of its own; values of a parameter without an order are either equal or not. The response is a
sum of what each parameter does alone, smoothly or by jumps between values, and of what all do together (Duvenaud,
Nickisch and Rasmussen, Additive Gaussian Processes, 2011). Where parameters act independently, each trial tells of all
settings that share one of its values, so many noisy trials are as good as a few exact ones. A last term lets the
machine drift from trial to trial, which the repeated default shows. Logarithms make noise that is a share of the value
alike everywhere. All scales are those of the highest posterior density.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ullage.analysis.tuning.space import Setting, Settings, Space
from ullage.arrays import NDArray, np

Array: TypeAlias = NDArray[np.float64]
# These are logarithms, for values with a deviation of 1: the middle of what is expected, and how far it may be off.
# They are of the length of a parameter and of the variances of what each parameter does alone, smoothly or by jumps, of
# what all do together, of noise and of drift.
_LENGTH: Final = (math.log(0.6), 0.8)
_ALONE: Final = (0.0, 1.0)
_ROUGH: Final = (math.log(0.02), 1.5)
_TOGETHER: Final = (math.log(0.3), 1.5)
_NOISE: Final = (math.log(0.05), 2.0)
_DRIFT: Final = (math.log(0.003), 2.0)
# After so many trials a drift has changed into another.
_DRIFT_TRIALS: Final = 30.0
_STEPS: Final = (1.2, 0.6, 0.3)
_JITTER: Final = 1e-8
# A cliff is a step of a parameter: its variance, what the likelihood has to gain by it, and how many there may be.
_STEP_VARIANCE: Final = 4.0
_STEP_GAIN: Final = 3.0
_MOST_STEPS: Final = 3
_FEWEST_OF_STEPS: Final = 20


@dataclass(frozen=True)
class Trials:
    """What was measured: settings, the logarithm of the objective (more is better), and the turn of each trial."""

    settings: Sequence[Setting]
    logs: Sequence[float]
    turns: Sequence[float]

    def first(self, count: int) -> "Trials":
        """Return the first ``count`` trials."""
        return Trials(self.settings[:count], self.logs[:count], self.turns[:count])

    def of(self, places: Sequence[int]) -> "Trials":
        """Return the trials at ``places``."""
        logs, turns = [self.logs[place] for place in places], [self.turns[place] for place in places]
        return Trials([self.settings[place] for place in places], logs, turns)


@dataclass(frozen=True)
class Scales:
    """Holds logarithms of the length of each parameter, and of variances.

    ``alone`` and ``rough``: of what each parameter does, smoothly and by jumps; ``together``: of what all do.
    ``smooth``: the kernel of a parameter is squared exponential, not Matern 5/2.
    """

    lengths: tuple[float, ...]
    alone: float = _ALONE[0]
    rough: float = _ROUGH[0]
    together: float = _TOGETHER[0]
    noise: float = _NOISE[0]
    drift: float = _DRIFT[0]
    steps: tuple[tuple[int, int], ...] = ()
    smooth: bool = False

    def values(self) -> list[float]:
        """Return all scales in one list."""
        return [*self.lengths, self.alone, self.rough, self.together, self.noise, self.drift]

    @classmethod
    def of(cls, values: Sequence[float], steps: tuple[tuple[int, int], ...] = ()) -> "Scales":
        """Make scales from a list as ``values`` returns it."""
        alone, rough, together, noise, drift = values[-5:]
        return cls(tuple(values[:-5]), alone, rough, together, noise, drift, steps)


def lag_of(first: Sequence[float], second: Sequence[float]) -> Array:
    """Return how alike the machine is at each two turns."""
    apart = np.abs(np.array(first)[:, None] - np.array(second)[None, :])
    return np.asarray(np.exp(-apart / _DRIFT_TRIALS), dtype=np.float64)


class _Known:
    """Where and when was measured. ``lag``: how alike the machine is at each two trials."""

    def __init__(self, space: Space, settings: NDArray[np.int64], lag: Array) -> None:
        self.space, self.lag = space, lag
        self._cells = [
            settings[:, place, None] * len(one.values) + settings[None, :, place]
            for place, one in enumerate(space.dimensions)
        ]

    def covariance(self, scales: Scales) -> Array:
        """Return the covariance matrix of all trials: response, drift and noise."""
        alone = math.exp(scales.drift) * self.lag
        together = np.full(self.lag.shape, math.exp(scales.together))
        for (own, likeness), cells in zip(_tables(self.space, scales), self._cells, strict=True):
            alone += np.take(own, cells)
            together *= np.take(likeness, cells)
        found = alone + together
        found[np.diag_indices_from(found)] += own_variance(scales)
        return np.asarray(found, dtype=np.float64)


def own_variance(scales: Scales) -> float:
    """Return the variance of a trial by its noise, where values have a deviation of 1."""
    return math.exp(scales.noise) + _JITTER


def _tables(space: Space, scales: Scales) -> list[tuple[Array, Array]]:
    """Return for each parameter the covariance of what it does alone, and how alike its values are (1: equal)."""
    found: list[tuple[Array, Array]] = []
    smooth, rough = math.exp(scales.alone), math.exp(scales.rough)
    for place, (dimension, length) in enumerate(zip(space.dimensions, scales.lengths, strict=True)):
        count = len(dimension.values)
        places = np.arange(count, dtype=np.float64)
        apart = np.abs(places[:, None] - places[None, :])
        apart = apart / max(1, count - 1) if dimension.ordered else np.minimum(apart, 1.0)
        likeness = _likeness(math.sqrt(5) * apart * math.exp(-length), smooth=scales.smooth)
        own = smooth * likeness + rough * np.eye(count)
        for at in (step for where, step in scales.steps if where == place):
            side = np.where(places >= at, 0.5, -0.5)
            own += _STEP_VARIANCE * np.outer(side, side)
        found.append((np.asarray(own, dtype=np.float64), likeness))
    return found


def _likeness(far: Array, *, smooth: bool) -> Array:
    """Return the correlation of values by a squared exponential (``smooth``) or Matern 5/2 kernel.

    ``far``: their distance in lengths, times the square root of 5.
    """
    found = np.exp(-far * far / 10) if smooth else (1 + far + far * far / 3) * np.exp(-far)
    return np.asarray(found, dtype=np.float64)


def response(space: Space, first: NDArray[np.int64], second: NDArray[np.int64], scales: Scales) -> Array:
    """Return the covariance of the response between all pairs of ``first`` and ``second``."""
    alone = np.zeros((len(first), len(second)))
    together = np.full((len(first), len(second)), math.exp(scales.together))
    for place, (own, likeness) in enumerate(_tables(space, scales)):
        # Whole columns are copied: that is several times faster than to pick numbers one by one.
        alone += np.take(own[first[:, place]], second[:, place], axis=1)
        together *= np.take(likeness[first[:, place]], second[:, place], axis=1)
    return np.asarray(alone + together, dtype=np.float64)


def variance_of(space: Space, scales: Scales) -> float:
    """Return the variance of the response at a setting, as ``response`` has it."""
    each = math.exp(scales.alone) + math.exp(scales.rough)
    return each * len(space.dimensions) + math.exp(scales.together) + _STEP_VARIANCE / 4 * len(scales.steps)


def likeliest(values: Array, known: _Known) -> Scales:
    """Return the scales of the highest posterior density, with the steps that it has the most reason for."""
    start = Scales(tuple(_LENGTH[0] for _ in known.space.dimensions))
    plain, reached = _climbed(start, values, known)
    stepped = _stepped(start, values, known) if len(values) >= _FEWEST_OF_STEPS else start
    if not stepped.steps:
        return plain
    other, value = _climbed(stepped, values, known)
    return other if value - _STEP_GAIN * len(other.steps) > reached else plain


def _stepped(scales: Scales, values: Array, known: _Known) -> Scales:
    """Add steps one after another as long as the likelihood gains enough by each."""
    every = [
        (place, at)
        for place, one in enumerate(known.space.dimensions)
        if one.ordered
        for at in range(1, len(one.values))
    ]
    reached = _likelihood(values, known, scales)
    while len(scales.steps) < _MOST_STEPS:
        tried = [replace(scales, steps=(*scales.steps, step)) for step in every if step not in scales.steps]
        gained = [(_likelihood(values, known, one), place) for place, one in enumerate(tried)]
        best, place = max(gained, default=(-math.inf, 0))
        if best < reached + _STEP_GAIN:
            break
        scales, reached = tried[place], best
    return scales


def _climbed(scales: Scales, values: Array, known: _Known) -> tuple[Scales, float]:
    """Step along each scale in turn, smaller steps after larger ones, as long as the posterior density gains."""
    expected = [*([_LENGTH] * len(known.space.dimensions)), _ALONE, _ROUGH, _TOGETHER, _NOISE, _DRIFT]

    def density(point: list[float]) -> float:
        off = sum(((at - middle) / width) ** 2 for at, (middle, width) in zip(point, expected, strict=True))
        return _likelihood(values, known, Scales.of(point, scales.steps)) - off / 2

    best = scales.values()
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
    return Scales.of(best, scales.steps), reached


def _likelihood(values: Array, known: _Known, scales: Scales) -> float:
    factor = np.linalg.cholesky(known.covariance(scales))
    both = np.linalg.solve(factor, np.column_stack([values, np.ones(len(values))]))
    mean = float(both[:, 1] @ both[:, 0]) / float(both[:, 1] @ both[:, 1])
    off = both[:, 0] - mean * both[:, 1]
    return -float(off @ off) / 2 - float(np.sum(np.log(np.diag(factor))))


_LEAST_VARIANCE: Final = 1e-12


class Posterior:
    """Expects of ``settings``, after ``trials`` (two at least); ``scales`` stay as they are.

    A further trial costs little: the Cholesky factor of the trials grows by a row (Rasmussen and Williams 2006,
    appendix A.3).
    """

    def __init__(self, space: Space, settings: Settings, scales: Scales, trials: Trials) -> None:
        self.space, self.settings, self.scales = space, settings, scales
        self._place = {tuple(row): place for place, row in enumerate(settings.tolist())}
        self._trials = trials
        measured = np.array(trials.settings, dtype=np.int64)
        covariance = response(space, measured, measured, scales)
        covariance += math.exp(scales.drift) * lag_of(trials.turns, trials.turns)
        covariance += own_variance(scales) * np.eye(len(covariance))
        self._inverse: Array = np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)), dtype=np.float64)
        self._explained = self._inverse @ response(space, measured, settings, scales)
        self._known = np.sum(self._explained**2, axis=0)
        self._expect()

    def goes_on(self, trials: Trials) -> bool:
        """Tell whether ``trials`` are those that are known, with others after them."""
        count = len(self._trials.settings)
        return list(trials.settings[:count]) == list(self._trials.settings)

    def has(self, settings: Sequence[Setting]) -> bool:
        """Tell whether all of these are among the settings."""
        return all(setting in self._place for setting in settings)

    def tell(self, trials: Trials) -> None:
        """Take ``trials`` into account: those that are known, maybe with other values, and others after them."""
        for place in range(len(self._trials.settings), len(trials.settings)):
            self._add(trials, place)
        self._trials = trials
        self._expect()

    def _add(self, trials: Trials, place: int) -> None:
        setting = np.array([trials.settings[place]], dtype=np.int64)
        before = np.array(trials.settings[:place], dtype=np.int64)
        across = response(self.space, before, setting, self.scales)[:, 0]
        across += math.exp(self.scales.drift) * lag_of(trials.turns[:place], trials.turns[place : place + 1])[:, 0]
        own = variance_of(self.space, self.scales) + math.exp(self.scales.drift) + own_variance(self.scales)
        row = self._inverse @ across
        corner = math.sqrt(max(own - float(row @ row), _LEAST_VARIANCE))
        grown = np.zeros((place + 1, place + 1))
        grown[:place, :place] = self._inverse
        grown[place, :place] = -(row @ self._inverse) / corner
        grown[place, place] = 1 / corner
        self._inverse = grown
        further = (response(self.space, setting, self.settings, self.scales)[0] - row @ self._explained) / corner
        self._explained = np.vstack([self._explained, further])
        self._known += further**2

    def _expect(self) -> None:
        self.spread = max(float(np.std(self._trials.logs)), 1e-3)
        self.mean, self.deviation = self._expected(self._explained, self._known)

    def _expected(self, explained: Array, known: Array) -> tuple[Array, Array]:
        logs = np.array(self._trials.logs)
        values, ones = self._inverse @ logs, self._inverse @ np.ones(len(logs))
        middle = float(ones @ values) / float(ones @ ones)
        left = np.maximum(variance_of(self.space, self.scales) - known, _LEAST_VARIANCE)
        return middle + (values - middle * ones) @ explained, self.spread * np.sqrt(left)

    def predict(self, settings: Settings) -> tuple[Array, Array]:
        """Return mean and standard deviation of the logarithm at any rows of settings, without noise and drift."""
        measured = np.array(self._trials.settings, dtype=np.int64)
        explained = self._inverse @ response(self.space, measured, settings, self.scales)
        return self._expected(explained, np.sum(explained**2, axis=0))

    @property
    def evidence(self) -> float:
        """Logarithm of the marginal likelihood of the trials, but for a constant, where scales are not standardised.

        The mean is integrated out (Rasmussen and Williams 2006, section 2.7).
        """
        values, ones = self._inverse @ np.array(self._trials.logs), self._inverse @ np.ones(len(self._inverse))
        weight = float(ones @ ones)
        off = values - float(ones @ values) / weight * ones
        return float(np.sum(np.log(np.diag(self._inverse)))) - (float(off @ off) + math.log(weight)) / 2

    @property
    def noise(self) -> float:
        """Standard deviation of the logarithm of one trial."""
        return self.spread * math.exp(self.scales.noise / 2)

    def places(self, settings: Sequence[Setting]) -> list[int]:
        """Return the places of settings."""
        return [self._place[setting] for setting in settings]

    def among(self, settings: set[Setting]) -> list[int]:
        """Return the places of those ``settings`` that are among its own."""
        return [self._place[setting] for setting in settings if setting in self._place]

    def joint(self, places: Sequence[int]) -> tuple[Array, Array]:
        """Return mean and covariance matrix of the logarithms at ``places``."""
        chosen = self.settings[list(places)]
        explained = self._explained[:, list(places)]
        own = response(self.space, chosen, chosen, self.scales)
        return self.mean[list(places)], self.spread**2 * (own - explained.T @ explained)


def fit(space: Space, trials: Trials, scales: Scales | None = None) -> Posterior:
    """Return what ``trials`` (two at least) make likely of their settings; ``scales``: None for those they fit best."""
    settings = np.array(trials.settings, dtype=np.int64)
    if scales is None:
        logs = np.array(trials.logs)
        values = np.asarray((logs - np.mean(logs)) / max(float(np.std(logs)), 1e-3), dtype=np.float64)
        scales = likeliest(values, _Known(space, settings, lag_of(trials.turns, trials.turns)))
    return Posterior(space, settings, scales, trials)
