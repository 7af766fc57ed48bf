# SPDX-License-Identifier: Apache-2.0
"""Other ways to choose the next setting: at random, along the grid, or by Optuna's samplers.

Default, repetitions, choice and confirmation are those of ``Search``. At random and along the grid no model has a part
in what is tried; Optuna's samplers choose in place of the upper bound.
"""

from collections.abc import Sequence
from typing import Any, Final, cast

from ullage.analysis.tuning.search import Ask, Search, Trial
from ullage.analysis.tuning.space import Setting, Settings, Space, setting_of
from ullage.analysis.tuning.surrogate import Posterior
from ullage.arrays import np
from ullage.errors import EXIT_ENVIRONMENT, UserError

METHODS: Final = ("model", "random", "grid", "tpe", "cma-es")


def make_search(method: str, space: Space, seed: int, earlier: int = 0, begin: Setting | None = None) -> Search:
    """Return the search by ``method``. ``earlier`` and ``begin``: see ``Search``.

    Raise UserError (exit code 3) where it needs a package that is not installed.
    """
    match method:
        case "random":
            return RandomSearch(space, seed, earlier, begin)
        case "grid":
            return _BlindSearch(space, seed, earlier, begin)
        case "tpe" | "cma-es":
            return OptunaSearch(space, seed, method, earlier, begin)
        case _:
            return Search(space, seed, earlier, begin)


class _BlindSearch(Search):
    """Measures settings without a model of the response, and races those that were measured."""

    def candidates(self, trials: Sequence[Trial]) -> Settings:
        return np.array(sorted({trial.setting for trial in trials}), dtype=np.int64)

    def _beginning(self, trials: Sequence[Trial]) -> Ask | None:
        del trials
        return None

    def _further(self, trials: Sequence[Trial]) -> Setting | None:
        known = {trial.setting for trial in trials}
        left = (setting_of(row) for row in self._in_order(len(trials)))
        return next((setting for setting in left if setting not in known), None)

    def _in_order(self, turn: int) -> Settings:
        """Return all settings, the next to measure first. The grid has every setting once, in the order of values."""
        del turn
        return self.space.candidates


class RandomSearch(_BlindSearch):
    """Settings that were not measured yet, in random order."""

    def _in_order(self, turn: int) -> Settings:
        return np.random.default_rng((self.seed, turn)).permutation(self.space.candidates)


class OptunaSearch(Search):
    """Optuna's samplers by ask and tell, told all trials anew. A setting that it repeats gives way to the model's."""

    def __init__(self, space: Space, seed: int, method: str, earlier: int = 0, begin: Setting | None = None) -> None:
        super().__init__(space, seed, earlier, begin)
        self._method = method
        self._optuna = _optuna()

    def promising(self, posterior: Posterior, trials: Sequence[Trial]) -> Setting | None:
        optuna = self._optuna
        samplers = {"tpe": optuna.samplers.TPESampler, "cma-es": optuna.samplers.CmaEsSampler}
        sampler = samplers[self._method](seed=self.seed + len(trials))
        study = optuna.create_study(direction="maximize", sampler=sampler)
        ranges = self._ranges()
        for trial in trials:
            if trial.log is not None:
                values = dict(zip(ranges, trial.setting, strict=True))
                known = optuna.trial.create_trial(params=values, distributions=ranges, value=trial.log)
                study.add_trial(known)
        asked = study.ask(ranges)
        found = tuple(int(cast("int", asked.params[name])) for name in ranges)
        known_settings = {trial.setting for trial in trials}
        return super().promising(posterior, trials) if found in known_settings else found

    def _ranges(self) -> dict[str, Any]:
        made = self._optuna.distributions
        found: dict[str, Any] = {}
        for place, one in enumerate(self.space.dimensions):
            last = len(one.values) - 1
            name = f"{place}"
            found[name] = (
                made.IntDistribution(0, last) if one.ordered else made.CategoricalDistribution(tuple(range(last + 1)))
            )
        return found


def _optuna() -> Any:  # noqa: ANN401 - a library that may not be there
    import importlib

    try:
        optuna: Any = importlib.import_module("optuna")
        importlib.import_module("cmaes")
    except ImportError as error:
        what = f"needs a package that is not installed: {error.name}"
        right = "run `pip install -r requirements-tune.txt`, or use --search model"
        raise UserError(what, "--search", right, EXIT_ENVIRONMENT) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
