# SPDX-License-Identifier: Apache-2.0
"""What a search answers where its pairs make another setting the one that all trials support best."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ullage.analysis.tuning.methods import make_search
from ullage.model.tuning import Purpose, TuneConfirmation, TuneObjective, TuneTrial
from ullage.runs.suite import find_suite
from ullage.runs.tuning.journal import as_searched
from ullage.runs.tuning.options import TunedParameter, TuneOptions
from ullage.runs.tuning.summarise import Study, answer_of
from ullage.runs.tuning.trial_inputs import TrialInputsMaker
from ullage.runs.tuning.tuned_parameters import space_of

if TYPE_CHECKING:
    from ullage.analysis.tuning.space import Setting

GOAL = TuneObjective(name="write bandwidth", metric="bandwidth", unit="B/s", better="more", rows=1)
DEFAULT, STEADY, LUCKY = (0,), (1,), (2,)


def study(of_lucky: float, verdict: str = "synced") -> Study:
    """One setting gains 10 % in ten trials, another 40 % in one; ``of_lucky``: what the pairs show of the latter."""
    over = TunedParameter(
        name="env:X", how="environment", word="X", values=("unset", "a", "b"), ordered=False, default="unset"
    )
    space = space_of([over])
    told: list[tuple[Setting, Purpose, float]] = [(LUCKY, "search", 0.4)]
    told += [(DEFAULT, "default", 0.0), (STEADY, "race", 0.1)] * 10
    told += [(DEFAULT, "confirm", 0.0), (LUCKY, "confirm", of_lucky)] * 6
    trials = [
        TuneTrial(
            number=number,
            purpose=purpose,
            setting=space.texts(setting),
            values={GOAL.name: math.exp(log + 0.001 * (number % 3))},
            seconds=1.0,
            bytes=1,
            result=f"parts/{number}",
            verdict=verdict if setting == STEADY else "synced",
        )
        for number, (setting, purpose, log) in enumerate(told, start=1)
    ]
    searched = as_searched(trials, space, [GOAL], 0)
    options = TuneOptions(suite="sweep", parameters=[over], objective=[GOAL.name])
    maker = TrialInputsMaker(find_suite("sweep").options, {}, [over], 0, Path())
    return Study(options, space, trials, trials, [GOAL], searched, make_search("model", space, 1), maker)


@pytest.mark.parametrize(
    ("of_lucky", "verdict", "named"), [(0.0, "synced", True), (0.4, "synced", False), (0.0, "cached", False)]
)
def test_the_answer_names_a_third_setting_that_is_ahead_by_all_trials(
    of_lucky: float, verdict: str, named: bool
) -> None:
    found = study(of_lucky, verdict)
    assert found.best == LUCKY
    said = TuneConfirmation(ratio=1.0, low=0.9, high=1.1, pairs=6, answer="not better")
    assert ("By all trials, env:X=a is ahead, which noise may explain" in answer_of(found, said)) == named
