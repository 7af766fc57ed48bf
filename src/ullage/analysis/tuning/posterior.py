# SPDX-License-Identifier: Apache-2.0
"""What is expected of many settings, kept up to date: a further trial costs little where the scales stay as they are.

The same numbers as ``Surrogate``. The Cholesky factor of the trials grows by a row for each further trial
(Rasmussen and Williams 2006, appendix A.3).
"""

import math
from collections.abc import Sequence

from ullage.analysis.tuning.space import Setting, Settings, Space
from ullage.analysis.tuning.surrogate import (
    Array,
    Scales,
    Trials,
    inverse_of,
    lag_of,
    own_variance,
    response,
    variance_of,
)
from ullage.arrays import np

_LEAST_VARIANCE = 1e-12


class Posterior:
    """Expects of ``settings``, after ``trials`` (two at least); ``scales`` stay as they are."""

    def __init__(self, space: Space, settings: Settings, scales: Scales, trials: Trials) -> None:
        self.space, self.settings, self.scales = space, settings, scales
        self._place = {tuple(row): place for place, row in enumerate(settings.tolist())}
        self._trials = trials
        measured = np.array(trials.settings, dtype=np.int64)
        covariance = response(space, measured, measured, scales)
        covariance += math.exp(scales.drift) * lag_of(trials.turns, trials.turns)
        covariance += own_variance(scales) * np.eye(len(covariance))
        self._inverse = inverse_of(covariance)
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
        """Add trial ``place`` to the factor."""
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
        logs = np.array(self._trials.logs)
        self.spread = max(float(np.std(logs)), 1e-3)
        values, ones = self._inverse @ logs, self._inverse @ np.ones(len(logs))
        middle = float(ones @ values) / float(ones @ ones)
        self.mean: Array = middle + (values - middle * ones) @ self._explained
        left = np.maximum(variance_of(self.space, self.scales) - self._known, _LEAST_VARIANCE)
        self.deviation: Array = self.spread * np.sqrt(left)

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
