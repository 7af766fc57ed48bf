# SPDX-License-Identifier: Apache-2.0
"""Which setting to measure next, and which is best so far: ask and tell, as a pure function of the trials.

The default is measured first and again between the others. Settings spread over the whole space follow, then those
where the largest improvement is expected. A race repeats the few that may still be best and drops those that cannot be.
The rest of the trials is kept for the confirmation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ullage.analysis.tuning.confirmation import ERROR, FEWEST_PAIRS, Confirmation, judge, of_pair
from ullage.analysis.tuning.space import Setting, Space
from ullage.analysis.tuning.surrogate import Scales, Surrogate, Trials, fit

Purpose: TypeAlias = Literal["default", "start", "search", "race", "confirm"]
FEWEST_TRIALS: Final = 2 + 2 * FEWEST_PAIRS
"""The default, another setting, and the fewest pairs that can confirm it."""
_MOST_PAIRS: Final = 15
_USUAL_PAIRS: Final = 10
_MANY_TRIALS: Final = 300
_DEFAULT_EVERY: Final = 8
# The search ends where it expects no more than this, as a share of the best, and has looked around enough.
_LEAST_GAIN: Final = 0.004
_SEARCH_SHARE: Final = 0.6
_MOST_SEARCHED: Final = 150
# The race is counted here, too: the cost of a surrogate rises with the third power of the trials.
_MOST_TRIALS: Final = 240
# Before a search may end, so many settings are looked at, or this share of all.
_LOOKED_AT: Final = 60
_LOOKED_SHARE: Final = 0.08
_RACERS: Final = 5
# So many trials of the pairs may fail: a launch may fail once for what has nothing to do with the setting.
_MOST_FAILURES: Final = 2
_DROPPED_BELOW: Final = 0.05
_NORMAL: Final = NormalDist()


@dataclass(frozen=True)
class Trial:
    """``log``: logarithm of the objective, turned so that more is better; None of a trial that failed."""

    setting: Setting
    purpose: Purpose
    log: float | None


@dataclass(frozen=True)
class Ask:
    """What to measure next, and what for."""

    setting: Setting
    purpose: Purpose


class Search:
    """A search over ``space``. It keeps nothing but what follows from the trials, to be quick.

    ``earlier``: how many confirmations there were before. Each has half the error of the one before, so that all
    together claim an improvement that is none in at most 5 % of searches (one side of an interval has half its error).
    """

    def __init__(self, space: Space, seed: int = 1, earlier: int = 0) -> None:
        self.space, self.error = space, ERROR / 2**earlier
        self.seed = seed
        self._scales: dict[int, Scales] = {}
        self._start = start_settings(space, seed)

    def next(self, trials: Sequence[Trial], left: int) -> Ask | None:
        """Return what to measure next with room for ``left`` trials; None when there is nothing more to learn."""
        if left <= 0:
            return None
        searched = [trial for trial in trials if trial.purpose != "confirm"]
        if not any(trial.purpose == "default" for trial in searched):
            return Ask(self.space.default, "default")
        if len(searched) < len(trials):
            return self._confirming(trials, left)
        usable = left - 2 * _pairs(len(trials) + left)
        found = self._searching(searched, usable) if usable > 0 else None
        return self._confirming(trials, left) if found is None else found

    def best(self, trials: Sequence[Trial]) -> Setting:
        """Return the setting with the highest expected value among those that were measured without a failure."""
        measured = _measured([trial for trial in trials if trial.purpose != "confirm"])
        if len(measured) < 2:
            return self.space.default
        surrogate = self.surrogate(trials)
        mean, _ = surrogate.predict(np.array(measured))
        return measured[int(np.argmax(mean))]

    def confirmation(self, trials: Sequence[Trial]) -> Confirmation | None:
        """Judge the pairs so far; return None before the first look."""
        pairs = [trial for trial in trials if trial.purpose == "confirm" and trial.log is not None]
        best = [trial.log for trial in pairs if trial.setting != self.space.default and trial.log is not None]
        default = [trial.log for trial in pairs if trial.setting == self.space.default and trial.log is not None]
        most = _MOST_PAIRS if len(pairs) >= 12 else min(len(best), len(default))
        return judge(default, best, most, self.error)

    def surrogate(self, trials: Sequence[Trial]) -> Surrogate:
        """Fit a surrogate to all trials; its scales are fitted again whenever there are half as many more."""
        known = as_trials(trials)
        size = 4
        while size * 3 // 2 <= len(known.logs):
            size = size * 3 // 2
        size = min(size, len(known.logs))
        if size not in self._scales:
            self._scales[size] = fit(self.space, known.first(size)).scales
        return fit(self.space, known, self._scales[size])

    def _confirming(self, trials: Sequence[Trial], left: int) -> Ask | None:
        """Return the next trial of the pairs; None where the default is best, the pairs have decided, or too many fail.

        One that fails is measured again.
        """
        every = [trial for trial in trials if trial.purpose == "confirm"]
        pairs = [trial for trial in every if trial.log is not None]
        best = next((one.setting for one in every if one.setting != self.space.default), None) or self.best(trials)
        room = (len(pairs) + left) // 2
        if best == self.space.default or room < FEWEST_PAIRS or len(every) > len(pairs) + _MOST_FAILURES:
            return None
        said = self.confirmation(trials)
        if len(pairs) % 2 == 0 and (said is not None and said.answer != "undecided" and len(pairs) >= 12):
            return None
        if len(pairs) >= 2 * min(room, _MOST_PAIRS):
            return None
        return Ask(best if of_pair(len(pairs)) else self.space.default, "confirm")

    def _searching(self, trials: Sequence[Trial], usable: int) -> Ask | None:
        others = [trial for trial in trials if trial.purpose != "default"]
        if len(others) < len(self._start):
            return Ask(self._start[len(others)], "start")
        if len(trials) % _DEFAULT_EVERY == 0:
            return Ask(self.space.default, "default")
        if len(_measured(trials)) < 2 or len(trials) >= _MOST_TRIALS:
            return None
        surrogate = self.surrogate(trials)
        room = _SEARCH_SHARE * (usable + len(trials))
        if len(trials) < min(room, _MOST_SEARCHED) and not any(trial.purpose == "race" for trial in trials):
            found = self.promising(surrogate, trials) or self._least_known(surrogate, trials)
            if found is not None:
                return Ask(found, "search")
        return self._racing(surrogate, trials)

    def promising(self, surrogate: Surrogate, trials: Sequence[Trial]) -> Setting | None:
        """Return the setting with the largest expected improvement; None where that is next to nothing."""
        candidates = self.space.candidates
        mean, deviation = surrogate.predict(candidates)
        measured = np.array(_measured(trials))
        best = float(np.max(surrogate.predict(measured)[0]))
        gain = expected_gain(mean - best, deviation)
        gain *= 1 - surrogate.noise / np.sqrt(surrogate.noise**2 + deviation**2)
        gain[_places(candidates, {trial.setting for trial in trials})] = 0.0
        place = int(np.argmax(gain))
        return _setting(candidates[place]) if gain[place] > _LEAST_GAIN / 10 else None

    def _least_known(self, surrogate: Surrogate, trials: Sequence[Trial]) -> Setting | None:
        """Return the setting whose expectation is least certain: another optimum may be there.

        Return None once enough settings were looked at.
        """
        looked = len({trial.setting for trial in trials})
        if looked >= min(_LOOKED_AT, _LOOKED_SHARE * self.space.size):
            return None
        candidates = self.space.candidates
        _, deviation = surrogate.predict(candidates)
        deviation[_places(candidates, {trial.setting for trial in trials})] = 0.0
        place = int(np.argmax(deviation))
        return _setting(candidates[place]) if deviation[place] > 0 else None

    def _racing(self, surrogate: Surrogate, trials: Sequence[Trial]) -> Ask | None:
        """Repeat the setting that was measured least of the leader and those that may be better.

        Where none may be better, repeat default and leader until they have two trials each; then return None.
        """
        candidates = np.array(self._racers(surrogate, trials))
        mean, covariance = surrogate.joint(candidates)
        leader = int(np.argmax(mean))
        variance = np.diag(covariance) + covariance[leader, leader] - 2 * covariance[leader]
        deviation = np.sqrt(np.maximum(variance, 1e-12))
        behind = (mean - mean[leader]) / deviation
        alive = [place for place in range(len(mean)) if place != leader and _NORMAL.cdf(behind[place]) > _DROPPED_BELOW]
        regret = expected_gain(mean - mean[leader], deviation)
        if not alive or max(regret[place] for place in alive) < _LEAST_GAIN:
            return self._once_more(_setting(candidates[leader]), trials)
        count = {_setting(row): sum(trial.setting == _setting(row) for trial in trials) for row in candidates}
        place = min([leader, *alive], key=lambda one: (count[_setting(candidates[one])], -mean[one]))
        return Ask(_setting(candidates[place]), "race")

    def _once_more(self, leader: Setting, trials: Sequence[Trial]) -> Ask | None:
        """Repeat the default, then ``leader``, until each has two trials; return None when they have.

        Single trials do not tell their noise.
        """
        wanted: tuple[tuple[Setting, Purpose], ...] = ((self.space.default, "default"), (leader, "race"))
        for setting, purpose in wanted:
            if sum(trial.setting == setting for trial in trials) < 2:
                return Ask(setting, purpose)
        return None

    def _racers(self, surrogate: Surrogate, trials: Sequence[Trial]) -> list[Setting]:
        """Return the settings with the highest expected values, without those that failed.

        One that was not measured yet may be among them.
        """
        failed = {trial.setting for trial in trials if trial.log is None}
        mean, _ = surrogate.predict(self.space.candidates)
        mean[_places(self.space.candidates, failed)] = -math.inf
        order = np.argsort(-mean)[:_RACERS]
        return [_setting(self.space.candidates[place]) for place in order]


def as_trials(trials: Sequence[Trial]) -> Trials:
    """Turn trials into the surrogate's; a failed one counts as the worst measured, so its neighbours are avoided."""
    known = [trial.log for trial in trials if trial.log is not None]
    worst = min(known, default=0.0)
    logs = [worst if trial.log is None else trial.log for trial in trials]
    return Trials([trial.setting for trial in trials], logs, [float(turn) for turn in range(len(logs))])


def expected_gain(ahead: NDArray[np.float64], deviation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return E[max(0, X)] of normal X with these means and deviations."""
    z = ahead / deviation
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return ahead * _cumulative(z) + deviation * density


def _cumulative(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal distribution function by Abramowitz and Stegun 26.2.17, off by at most 7.5e-8."""
    t = 1 / (1 + 0.2316419 * np.abs(z))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * series
    return np.where(z >= 0, 1 - tail, tail)


def start_settings(space: Space, seed: int) -> list[Setting]:
    """Spread settings over the space: twice as many as parameters, each value of a parameter equally often."""
    draw = np.random.default_rng(seed)
    wanted = min(2 * len(space.dimensions) + 1, space.size - 1)
    best: tuple[float, list[Setting]] = (-1.0, [])
    for _ in range(30):
        columns = [_spread(draw, len(one.values), wanted) for one in space.dimensions]
        found = list(dict.fromkeys(tuple(int(value) for value in row) for row in np.column_stack(columns)))
        found = [setting for setting in found if setting != space.default]
        apart = _least_distance(space, found)
        best = max(best, (len(found) + apart, found), key=lambda one: one[0])
    return best[1]


def _spread(draw: np.random.Generator, values: int, count: int) -> NDArray[np.int64]:
    """Draw ``count`` places among ``values``, one of each equal part, in random order."""
    parts = (np.arange(count) + draw.random(count)) / count
    return draw.permutation(np.minimum((parts * values).astype(np.int64), values - 1))


def _least_distance(space: Space, settings: Sequence[Setting]) -> float:
    """Return half the least distance (0 to 1) between any two of ``settings``, so below 1; 0 of fewer than two."""
    if len(settings) < 2:
        return 0.0
    points = space.coordinates(np.array(settings))
    apart = np.abs(points[:, None, :] - points[None, :, :]).clip(max=1).mean(axis=2)
    return float(np.min(apart + np.eye(len(settings)))) / 2


def _pairs(total: int) -> int:
    """Return how many pairs are kept for the confirmation, of ``total`` trials."""
    most = _MOST_PAIRS if total >= _MANY_TRIALS else _USUAL_PAIRS
    return min(most, max(FEWEST_PAIRS, total // 6))


def _measured(trials: Sequence[Trial]) -> list[Setting]:
    return list(dict.fromkeys(trial.setting for trial in trials if trial.log is not None))


def _places(candidates: NDArray[np.int64], settings: set[Setting]) -> NDArray[np.bool_]:
    found = np.zeros(len(candidates), dtype=np.bool_)
    for setting in settings:
        found |= np.all(candidates == np.array(setting), axis=1)
    return found


def _setting(row: NDArray[np.int64]) -> Setting:
    return tuple(int(value) for value in row)
