# SPDX-License-Identifier: Apache-2.0
"""Which setting to measure next, and which is best so far: ask and tell, as a pure function of the trials.

The default is measured first and again between the others. A guess and steps from it follow, then settings spread over
the whole space, then those that may be best by the upper bound of what is expected. A race takes those whose value
tells most of which is best, in the end by trends near the top. The rest of the trials is kept for the confirmation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from ullage.analysis.tuning.confirmation import ERROR, FEWEST_PAIRS, Confirmation, judge, looks, of_pair
from ullage.analysis.tuning.effects import FEWEST_SCREENED, MOST_SCREENED, design, important, narrowed
from ullage.analysis.tuning.race import choose, expect, expected_gain, pick, racers
from ullage.analysis.tuning.space import Setting, Settings, Space, near, opening, setting_of, spread, start_settings
from ullage.analysis.tuning.surrogate import Posterior, Scales, Trials, fit
from ullage.arrays import np

Purpose: TypeAlias = Literal["default", "start", "search", "race", "confirm"]
FEWEST_TRIALS: Final = 2 + 2 * FEWEST_PAIRS
"""A search needs the default, another setting, and the fewest pairs that can confirm it."""
_MOST_PAIRS: Final = 15
_USUAL_PAIRS: Final = 10
_MANY_TRIALS: Final = 150
# A short search keeps so many pairs: what they cost is lacking where the best setting is looked for.
_FEW_PAIRS: Final = 6
_FEW_TRIALS: Final = 80
_DEFAULT_EVERY: Final = 18
# Until so many trials, the search goes in steps from the best, of so many places in each parameter; so many of these
# trials are left for the steps where there are many values to try beside the guess.
_OPENING: Final = 8
_STEP: Final = 3
_STEPS: Final = 3
# No setting that was not measured is worth a trial where it promises less than this.
_NO_GAIN: Final = 0.0004
# The scales are fitted to so many trials first, and whenever there are more by one in so many.
_FIRST_SCALES: Final = 4
_SCALES_AGAIN: Final = 3
_MOST_FITTED: Final = 280
# In a long race, only settings whose upper bound of so many standard deviations reaches the lower of another stay.
_HOPELESS: Final = 3.0
_SEARCH_SHARE: Final = 0.6
_MOST_SEARCHED: Final = 150
# One of so many trials goes to a setting spread over the space, the others to the highest upper bound, of so many
# standard deviations: noise may hide an optimum from those.
_SPREAD_EVERY: Final = 2
_BOUND: Final = 1.5
# The race is counted here, too: the cost of a surrogate rises with the third power of the trials.
_MOST_TRIALS: Final = 1000
# Before a search may end, so many settings are looked at, or this share of all.
_LOOKED_AT: Final = 60
_LOOKED_SHARE: Final = 0.08
# From this share of the trials on, the trends near the top decide what the race measures.
_BY_TRENDS: Final = 0.75
# So many trials of the pairs may fail: a launch may fail once for what has nothing to do with the setting.
_MOST_FAILURES: Final = 2
# From so many trials on, room for one that fails is kept beside the pairs.
_ROOM_FOR_FAILURE: Final = 12
# Before the race, so many settings that failed are measured once more: the cause may have passed, as a busy server.
_MOST_RETRIES: Final = 3
_FEW: Final = 20
# So many standard errors of the difference of pairs are enough for the tests of all looks at 6 pairs and more.
_CLEARLY: Final = 6.0


@dataclass(frozen=True)
class Trial:
    """A setting that was measured.

    ``log``: logarithm of the objective, turned so that more is better; None of a trial that failed, or whose setting
    ``breaks`` a rule.
    """

    setting: Setting
    purpose: Purpose
    log: float | None
    breaks: bool = False


@dataclass(frozen=True)
class Ask:
    """What to measure next, and what for."""

    setting: Setting
    purpose: Purpose


class Search:
    """A search over ``space``. It keeps nothing but what follows from the trials, to be quick.

    ``earlier``: how many confirmations there were before. Each has half the error of the one before, so that all
    together claim an improvement that is none in at most 5 % of searches (one side of an interval has half its error).
    ``begin``: the setting to begin with, by what is known; None: the middle.
    """

    def __init__(self, space: Space, seed: int = 1, earlier: int = 0, begin: Setting | None = None) -> None:
        self.space, self.error = space, ERROR / 2**earlier
        self.seed = seed
        self._first = opening(space, _OPENING - 1 - _STEPS, begin)
        self._scales: dict[int, Scales] = {}
        self._last: tuple[list[Trial], Posterior | None] = ([], None)
        self._left: dict[int, Settings] = {}
        self._posterior_of: tuple[Settings | None, Posterior | None] = (None, None)
        # Where all settings are listed, none of them is lost to a screening that is wrong.
        is_many = FEWEST_SCREENED <= len(space.dimensions) <= MOST_SCREENED
        self._screens = is_many and not space.is_listed
        self._start = design(space) if self._screens else start_settings(space, seed)
        self._narrowed: Settings | None = None

    def next(self, trials: Sequence[Trial], left: int) -> Ask | None:
        """Return what to measure next with room for ``left`` trials; None when there is nothing more to learn."""
        if left <= 0:
            return None
        searched = [trial for trial in trials if trial.purpose != "confirm"]
        if not any(trial.purpose == "default" for trial in searched):
            return Ask(self.space.default, "default")
        if len(searched) < len(trials):
            return self._confirming(trials, left)
        total = len(trials) + left
        usable = left - 2 * pairs_kept(total, self._apart(searched)) - (total >= _ROOM_FOR_FAILURE)
        found = self._searching(searched, usable) if usable > 0 else None
        # Trials that were kept for pairs are for the search where there is nothing to confirm.
        return found or self._confirming(trials, left) or self._searching(searched, left)

    def best(self, trials: Sequence[Trial]) -> Setting:
        """Return the setting with the highest expected value among those that were measured without a failure."""
        measured = _measured([trial for trial in trials if trial.purpose != "confirm"])
        if len(measured) < 2:
            return self.space.default
        posterior = self.posterior(trials)
        return measured[int(np.argmax(posterior.mean[posterior.places(measured)]))]

    def chosen(self, trials: Sequence[Trial]) -> Setting:
        """Return the setting that all trials support best, pairs included; before these, the one to confirm by them."""
        if len(trials) < _FEW or len(_measured(trials)) < 2:
            return self.best(trials)
        return choose(self.posterior(trials), as_trials([one for one in trials if one.log is not None]))

    def confirmation(self, trials: Sequence[Trial]) -> Confirmation | None:
        """Judge the pairs so far; return None before the first look."""
        pairs = [trial for trial in trials if trial.purpose == "confirm" and trial.log is not None]
        best = [trial.log for trial in pairs if trial.setting != self.space.default and trial.log is not None]
        default = [trial.log for trial in pairs if trial.setting == self.space.default and trial.log is not None]
        most = _MOST_PAIRS if len(pairs) >= 12 else min(len(best), len(default))
        return judge(default, best, most, self.error)

    def surrogate(self, trials: Sequence[Trial]) -> Posterior:
        """Fit a surrogate to all trials; its scales are fitted again whenever there are half as many more."""
        if self._last[1] is not None and self._last[0] == list(trials):
            return self._last[1]
        known = as_trials(trials)
        found = fit(self.space, known, self._scales_of(known, _size_of(known)))
        self._last = (list(trials), found)
        return found

    def posterior(self, trials: Sequence[Trial]) -> Posterior:
        """Return what is expected of all candidates and measured settings after ``trials``."""
        known = as_trials(trials)
        size = _size_of(known)
        scales = self._scales_of(known, size)
        candidates = self._promising_of(self.candidates(trials), known, size)
        of, kept = self._posterior_of
        is_same = kept is not None and of is candidates and kept.scales is scales
        if kept is not None and is_same and kept.goes_on(known) and kept.has(known.settings):
            kept.tell(known)
            return kept
        kept = Posterior(self.space, _with(candidates, known.settings), scales, known)
        self._posterior_of = (candidates, kept)
        return kept

    def _promising_of(self, candidates: Settings, known: Trials, size: int) -> Settings:
        """Return the candidates that may be best by the first ``size`` trials; all of them while the search goes on."""
        if size <= _MOST_SEARCHED:
            return candidates
        if size not in self._left:
            first = known.first(size)
            posterior = Posterior(self.space, _with(candidates, first.settings), self._scales_of(known, size), first)
            low = np.max(posterior.mean - _HOPELESS * posterior.deviation)
            self._left[size] = posterior.settings[posterior.mean + _HOPELESS * posterior.deviation >= low]
        return self._left[size]

    def _scales_of(self, known: Trials, size: int) -> Scales:
        size = min(size, _MOST_FITTED)
        if size not in self._scales:
            self._scales[size] = fit(self.space, known.first(size)).scales
        return self._scales[size]

    def candidates(self, trials: Sequence[Trial]) -> Settings:
        """Return the settings to choose from: all, or those of the parameters that the screening has kept."""
        if not self._screens:
            return self.space.candidates
        if self._narrowed is None:
            settings = [trial.setting for trial in trials]
            if not set(self._start) <= set(settings):
                return self.space.candidates
            # Only the trials up to the end of the screening decide, so that a search gone on with decides the same.
            of_screening = trials[: max(settings.index(setting) for setting in self._start) + 1]
            if len(_measured(of_screening)) < len(self._start) // 2:
                return self.space.candidates
            kept = important(self.surrogate(of_screening))
            self._narrowed = narrowed(self.space, kept)
        return self._narrowed

    def _confirming(self, trials: Sequence[Trial], left: int) -> Ask | None:
        """Return the next trial of the pairs; None where the default is best, the pairs have decided, or too many fail.

        One that fails is measured again.
        """
        every = [trial for trial in trials if trial.purpose == "confirm"]
        pairs = [trial for trial in every if trial.log is not None]
        best = next((one.setting for one in every if one.setting != self.space.default), None) or self.chosen(trials)
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
        if (begun := self._beginning(trials)) is not None:
            return begun
        if len(trials) % _DEFAULT_EVERY == 0:
            return Ask(self.space.default, "default")
        if len(trials) >= _MOST_TRIALS:
            return None
        room = min(_SEARCH_SHARE * (usable + len(trials)), _MOST_SEARCHED)
        if len(trials) < room and not any(trial.purpose == "race" for trial in trials):
            found = self._further(trials)
            if found is not None:
                return Ask(found, "search")
        if len(_measured(trials)) < 2:
            return None
        failed = to_retry(trials)
        return self._racing(trials, usable + len(trials)) if failed is None else Ask(failed, "race")

    def _beginning(self, trials: Sequence[Trial]) -> Ask | None:
        """Return what is measured before the model decides: a guess and steps from it, then settings all over."""
        others = sum(trial.purpose != "default" for trial in trials)
        opening_size = min(_OPENING, self.space.size // 2) - 1
        if others < opening_size and (found := self._opening(trials)) is not None:
            return Ask(found, "start")
        known = {trial.setting for trial in trials}
        started = next((setting for setting in self._start if setting not in known), None)
        is_time = len(trials) % _DEFAULT_EVERY == 0 or others >= opening_size + len(self._start)
        return None if started is None or is_time else Ask(started, "start")

    def _opening(self, trials: Sequence[Trial]) -> Setting | None:
        known = {trial.setting for trial in trials}
        return next((setting for setting in self._first if setting not in known), None) or self._step(trials)

    def _further(self, trials: Sequence[Trial]) -> Setting | None:
        """Return a setting that was not measured yet and may be best; None once enough were looked at."""
        if len(_measured(trials)) < 2:
            return None
        searched = sum(trial.purpose == "search" for trial in trials)
        posterior = self.posterior(trials)
        if not self._may_be_better(posterior, trials) and self._looked(trials):
            return None
        return self._spread(trials) if searched % _SPREAD_EVERY == 0 else self.promising(posterior, trials)

    def _step(self, trials: Sequence[Trial]) -> Setting | None:
        """Return the setting near the best where the largest improvement is expected, if there is one left."""
        if len(_measured(trials)) < 2:
            return None
        posterior, best = self.posterior(trials), self.best(trials)
        gain = expected_gain(posterior.mean - posterior.mean[posterior.places([best])], posterior.deviation)
        gain[posterior.among({trial.setting for trial in trials})] = 0.0
        gain[~near(posterior.settings, best, _STEP)] = 0.0
        place = int(np.argmax(gain))
        return setting_of(posterior.settings[place]) if gain[place] > 0 else None

    def promising(self, posterior: Posterior, trials: Sequence[Trial]) -> Setting | None:
        """Return the setting with the highest upper bound among those that were not measured; None of none."""
        bound = posterior.mean + _BOUND * posterior.deviation
        bound[posterior.among({trial.setting for trial in trials})] = -math.inf
        place = int(np.argmax(bound))
        return setting_of(posterior.settings[place]) if bound[place] > -math.inf else None

    def _may_be_better(self, posterior: Posterior, trials: Sequence[Trial]) -> bool:
        """Tell whether any setting that was not measured is expected to improve by more than next to nothing."""
        best = float(np.max(posterior.mean[posterior.places(_measured(trials))]))
        deviation = posterior.deviation
        gain = expected_gain(posterior.mean - best, deviation)
        gain *= 1 - posterior.noise / np.sqrt(posterior.noise**2 + deviation**2)
        gain[posterior.among({trial.setting for trial in trials})] = 0.0
        return bool(np.max(gain) > _NO_GAIN)

    def _spread(self, trials: Sequence[Trial]) -> Setting | None:
        """Return the next of the settings spread over the space that was not measured yet."""
        known = {trial.setting for trial in trials}
        every = islice(spread(self.space, self.seed), 2 * len(trials) + _OPENING)
        return next((setting for setting in every if setting not in known), None)

    def _looked(self, trials: Sequence[Trial]) -> bool:
        """Tell whether enough settings were looked at: another optimum may be where nothing was measured."""
        return len({trial.setting for trial in trials}) >= min(_LOOKED_AT, _LOOKED_SHARE * self.space.size)

    def _apart(self, trials: Sequence[Trial]) -> float | None:
        """Return how far best and default are apart, in standard deviations of a trial; None of few trials."""
        if len(trials) < _FEW or len(_measured(trials)) < 2:
            return None
        best, posterior = self.best(trials), self.posterior(trials)
        mean = posterior.mean[posterior.places([self.space.default, best])]
        return float(mean[1] - mean[0]) / max(posterior.noise, 1e-9)

    def _racing(self, trials: Sequence[Trial], room: float) -> Ask | None:
        """Repeat or try the setting whose value tells most of which is best.

        The model decides first; the trends near the top in the end, or where the model expects no further gain. Where
        they expect none either, repeat default and leader until they have two trials each; then return None.
        """
        posterior = self.posterior(trials)
        places = racers(posterior, {trial.setting for trial in trials if trial.log is None} - set(_measured(trials)))
        ahead = pick(*posterior.joint(places), posterior.noise)
        if (ahead.wanted is None or len(trials) >= _BY_TRENDS * room) and len(trials) >= _FEW:
            places, mean, covariance = expect(
                posterior, as_trials([one for one in trials if one.log is not None]), places
            )
            ahead = pick(mean, covariance, posterior.noise)
        if ahead.wanted is None:
            return self._once_more(setting_of(posterior.settings[places[ahead.leader]]), trials)
        return Ask(setting_of(posterior.settings[places[ahead.wanted]]), "race")

    def _once_more(self, leader: Setting, trials: Sequence[Trial]) -> Ask | None:
        """Repeat the default, then ``leader``, until each has two trials; return None when they have.

        Single trials do not tell their noise.
        """
        wanted: tuple[tuple[Setting, Purpose], ...] = ((self.space.default, "default"), (leader, "race"))
        for setting, purpose in wanted:
            if sum(trial.setting == setting for trial in trials) < 2:
                return Ask(setting, purpose)
        return None


def as_trials(trials: Sequence[Trial]) -> Trials:
    """Turn trials into the surrogate's.

    A failed one counts as the worst measured, so its neighbours are avoided, unless its setting was measured well.
    """
    known = [trial.log for trial in trials if trial.log is not None]
    worst, measured = min(known, default=0.0), set(_measured(trials))
    kept = [(turn, one) for turn, one in enumerate(trials) if one.log is not None or one.setting not in measured]
    logs = [worst if trial.log is None else trial.log for _, trial in kept]
    return Trials([trial.setting for _, trial in kept], logs, [float(turn) for turn, _ in kept])


def _size_of(known: Trials) -> int:
    """Return of how many of the trials the scales are, which changes seldom."""
    size = _FIRST_SCALES
    while (further := size + max(2, size // _SCALES_AGAIN)) <= len(known.logs):
        size = further
    return min(size, len(known.logs))


def _with(candidates: Settings, settings: Sequence[Setting]) -> Settings:
    listed = {tuple(row) for row in candidates.tolist()}
    further = [setting for setting in dict.fromkeys(settings) if setting not in listed]
    return np.vstack([candidates, np.array(further, dtype=np.int64)]) if further else candidates


def to_retry(trials: Sequence[Trial]) -> Setting | None:
    """Return a setting that failed in its only trial; None of none, or where enough were measured once more."""
    failed = [trial.setting for trial in trials if trial.log is None and not trial.breaks]
    again = {one for one in failed if sum(trial.setting == one for trial in trials) > 1}
    return next((one for one in failed if one not in again), None) if len(again) < _MOST_RETRIES else None


def pairs_kept(total: int, apart: float | None = None) -> int:
    """Return how many pairs are kept for the confirmation, of ``total`` trials.

    ``apart``: by how many standard deviations of a trial the best is expected to differ from the default. So many
    pairs are kept as nearly always prove that much.
    """
    most = _MOST_PAIRS if total >= _MANY_TRIALS else _USUAL_PAIRS if total >= _FEW_TRIALS else _FEW_PAIRS
    if apart is not None:
        most = next((pairs for pairs in looks(most) if math.sqrt(pairs / 2) * apart > _CLEARLY), most)
    return min(most, max(FEWEST_PAIRS, total // 6))


def _measured(trials: Sequence[Trial]) -> list[Setting]:
    return list(dict.fromkeys(trial.setting for trial in trials if trial.log is not None))
