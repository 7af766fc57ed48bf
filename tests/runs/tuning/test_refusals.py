# SPDX-License-Identifier: Apache-2.0
"""What a search refuses before its first trial, and how many trials its budget has room for."""

import re
from pathlib import Path

import pytest

from runs.tuning.test_tuning import trial
from support.simulated_engine import DESCRIBE
from ullage.analysis.tuning.search import FEWEST_TRIALS
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.describe import Describe
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.jobtime import LAUNCH_S
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import find_suite
from ullage.runs.summary import build_summary
from ullage.runs.tuning.budget import Budget
from ullage.runs.tuning.options import OptionValue, TuneOptions
from ullage.runs.tuning.prepared import PreparedTune
from ullage.runs.tuning.searching import prepare_tune


def prepared_search(
    over: str, budget_s: float, words: dict[str, OptionValue], suite: str = "sweep", description: Describe = DESCRIBE
) -> PreparedTune:
    options = TuneOptions(suite=suite, words=words, over=[over], objective=["write bandwidth"], budget_s=budget_s)
    targets, asked = parse_options(find_suite(suite).options, 0, **words).targets, options.model_dump(mode="json")
    request = Request(run_id="r", suite="tune", created="", targets=targets, options=asked)
    return prepare_tune(request, EngineContext(Path("/engine"), description), build_summary)


@pytest.mark.parametrize(("over", "backend"), [("queue_depth=8,16", "posix"), ("transfer.queue_depth=1,8", "mpiio")])
def test_what_the_backend_does_not_serve_is_refused_before_the_first_trial(
    over: str, backend: str, tmp_path: Path
) -> None:
    words: dict[str, OptionValue] = {"target": [f"a={tmp_path}"], "backend": backend}
    with pytest.raises(UserError, match="queue_depth of at most 1") as error:
        prepared_search(over, 600.0, words, description=DESCRIBE)
    assert error.value.code == EXIT_BAD_INPUT


@pytest.mark.parametrize(
    ("suite", "over"), [("disk", "block=4K:1M:x4"), ("sweep", "env:X=a,b"), ("sweep", "backend=posix,mpiio")]
)
def test_the_least_budget_that_a_refusal_names_is_accepted_and_has_room_for_all_launches(
    suite: str, over: str, tmp_path: Path
) -> None:
    def prepared(budget_s: float) -> PreparedTune:
        return prepared_search(over, budget_s, {"target": [f"a={tmp_path}"]}, suite)

    with pytest.raises(UserError) as error:
        prepared(5.0)
    assert "\n" not in str(error.value)
    named = re.search(r"--budget (\d+)s", str(error.value))
    assert named is not None
    with pytest.raises(UserError, match=f"--budget {named[1]}s"):
        prepared(float(named[1]) - 1)
    found = prepared(float(named[1]))
    assert found.budget.left([]) >= FEWEST_TRIALS
    plans = found.first.plans(ResultFolder(tmp_path))
    launches = sum(any(found.needed(case, plan.layout) for case in plan.cases) for plan in plans)
    assert found.budget.longest_s([]) > 1.1 * launches * LAUNCH_S + 1


def test_one_slow_setting_does_not_take_the_room_of_the_pairs() -> None:
    done = [trial(1, 4.0).model_copy(update={"purpose": "default"}), *(trial(number, 4.0) for number in range(2, 8))]
    slow = [*done, trial(8, 20.0)]
    budget = Budget(100.0, None, None, 2.0, None)
    assert budget.left(slow) == (100 - 48) // (1.1 * 6)
    assert Budget(60.0, None, None, 2.0, None).left(slow) == 0
    long_default = [slow[0].model_copy(update={"seconds": 10.0}), *slow[1:]]
    assert budget.left(long_default) == (100 - 54) // 11
