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
from tests.e2e.commands import TIMEOUT_S

from ullage.results.folder import ResultFolder

_TRIES = 3


@pytest.mark.cause
@pytest.mark.long
@pytest.mark.parametrize("cause", CAUSES, ids=lambda one: one.name.replace(" ", "-"))
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
    assert verdict.outcome == "named", f"{verdict.text}; right is {right:.2f}"


def _measured(cause: Cause, plant: Plant, engine: Path, result: Path, right: float) -> Verdict:
    words = cause.words(plant.target or result.parent)
    argv = [
        *plant.prefix,
        sys.executable,
        "-m",
        "ullage",
        "run",
        *words,
        *plant.words,
        "--engine",
        str(engine),
        "--result",
        str(result),
    ]
    env = {**os.environ, **plant.environment}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=2 * TIMEOUT_S)
    assert (result / "summary.json").is_file(), done.stderr
    return judge(ladders_for(ResultFolder(result).read_summary(), cause.expected), cause.expected, right)
