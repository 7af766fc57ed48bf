# SPDX-License-Identifier: Apache-2.0
"""The two published IO500 runs on Summit as a study of two settings: what was traded for what, from their numbers."""

from pathlib import Path

import pytest

from ullage.analysis.tuning.confirmation import changes, sentence
from ullage.cli.app import run
from ullage.importers import read
from ullage.runs.tuning.objective import medians, read_value

TABLE = Path(__file__).parent / "summit_io500.json"
BEFORE, AFTER = "160x16", "504x2"


def test_the_change_of_settings_is_told_as_its_authors_tell_it() -> None:
    rows = [row for row in read(TABLE).rows if row.metric != "phase_time"]
    first, second = (medians([row for row in rows if row.target == target]) for target in (BEFORE, AFTER))
    found = changes(first, second)
    ratios = {one.name.split()[0]: one.ratio for one in found}
    assert ratios["ior-hard-write"] == pytest.approx(0.572 / 0.021)
    assert ratios["mdtest-hard-write"] == pytest.approx(24.375 / 10553.1)
    assert {"mdtest-easy-write", "mdtest-hard-stat"} <= {name for name, ratio in ratios.items() if ratio < 1}
    said = sentence("nodes=504 ppn=2", "nodes=160 ppn=16", found)
    assert said.startswith("nodes=504 ppn=2 (before: nodes=160 ppn=16) changes mdtest-hard-write")
    assert "to 0.00231 x" in said
    assert "ior-hard-write" in said
    assert "27.2 x" in said


def test_the_total_is_an_objective_by_its_name() -> None:
    summary = read(TABLE)
    totals = [
        read_value(
            "total", summary.model_copy(update={"scores": [s for s in summary.scores if target in s.name]})
        ).value
        for target in (BEFORE, AFTER)
    ]
    assert totals == [pytest.approx(284.7, abs=0.1), pytest.approx(366.48, abs=0.1)]


def test_the_command_prints_both_from_the_published_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", str(TABLE)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("nodes=504 ppn=2 (before: nodes=160 ppn=16) changes mdtest-hard-write")
    assert "ior-hard-write bandwidth to 27.2 x" in lines[0]
    assert "IO500 changes from 284.7 to 366.5, which is 1.29 x." in lines
    assert "have no interval" in lines[-1]
