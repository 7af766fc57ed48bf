# SPDX-License-Identifier: Apache-2.0
"""Planted causes: Ullage names each as the largest rung of the ladder, with the right size (``make causes``)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.causes.judge import Verdict, judge, ladders_for
from tests.causes.plants import Plant
from tests.causes.table import CAUSES, Cause
from tests.e2e.commands import TIMEOUT_S, ullage

from ullage.results.folder import ResultFolder

# "all": nothing else runs, and a wrong answer is a failure. "beside": all, but other tests disturb the machine.
_CHOSEN = os.environ.get("ULLAGE_CAUSES", "")
_ALL = _CHOSEN == "all"
_TRIES = 3 if _ALL else 1
# Beside other tests all rows are disturbed, and no ladder is made of disturbed rows.
_ULLAGE = (sys.executable, "-m", "ullage") if _ALL else ullage()


@pytest.mark.cause
@pytest.mark.long
@pytest.mark.parametrize(
    "cause", [one for one in CAUSES if _CHOSEN or one.in_test], ids=lambda one: one.name.replace(" ", "-")
)
def test_a_planted_cause_is_the_largest_rung(
    cause: Cause, engine: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    with cause.plant(folder) as plant:
        right = plant.right()
        verdict = Verdict("nothing named")
        for count in range(_TRIES):
            verdict = _measured(cause, plant, engine, tmp_path / f"result-{count}", right)
            if verdict.outcome in ("named", "no ladder"):
                break
    told = {"cause": cause.name, "right": f"{right:.2f} left", "said": verdict.text}
    request.node.user_properties.extend(told.items())
    if verdict.outcome in ("no ladder", "nothing named"):
        pytest.skip(f"{verdict.text}: no sound rows of {cause.expected.part} with and without the cause")
    if not _ALL and verdict.outcome != "named":
        pytest.skip(f"other tests disturb the machine: {verdict.text}; `make causes` decides")
    assert verdict.outcome == "named", f"{verdict.text}; right is {right:.2f}"


def _measured(cause: Cause, plant: Plant, engine: Path, result: Path, right: float) -> Verdict:
    words = cause.words(plant.target or result.parent)
    argv = [*plant.prefix, *_ULLAGE, "run", *words, *plant.words, "--engine", str(engine), "--result", str(result)]
    env = {**os.environ, **plant.environment}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=2 * TIMEOUT_S)
    assert (result / "summary.json").is_file(), done.stderr
    return judge(ladders_for(ResultFolder(result).read_summary(), cause.expected), cause.expected, right)
