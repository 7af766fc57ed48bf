# SPDX-License-Identifier: Apache-2.0
"""Which phases moved the score from one result to another."""

import csv
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.make_records import make_row
from ullage.analysis.attribution import Attribution, load_attributions
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_OK
from ullage.model.summary import Row
from ullage.report.comparison_text import attribution_text
from ullage.suites.io500.attribution import attributed
from ullage.suites.io500.phases import BY_NAME

GIB = float(1 << 30)
VALUES = {"ior-easy-write": 4 * GIB, "ior-easy-read": 8 * GIB, "mdtest-easy-write": 50e3, "find": 1e6}
SUMMIT = Path(__file__).parents[2] / "golden" / "summit_io500.json"
Capture = pytest.CaptureFixture[str]


def rows_of(values: Mapping[str, float], grade: str = "A", target: str = "disk") -> list[Row]:
    found: list[Row] = []
    for name, value in values.items():
        phase = BY_NAME[name]
        fields: dict[str, object] = {"metric": phase.metric, "unit": phase.si_unit, "params": {"phase": name}}
        found.append(make_row([value], target=target, grade=grade, **fields))
    return found


def shares(change: Attribution) -> dict[str, float]:
    return {mover.name: round(share, 3) for mover in change.movers if (share := change.share(mover)) is not None}


def test_the_change_of_the_score_is_that_of_its_phases() -> None:
    assert attributed in load_attributions()
    better = VALUES | {"ior-easy-write": 16 * GIB}
    (change,) = attributed(rows_of(VALUES), rows_of(better), ("two", "four"))
    text = "From two to four IO500 changes by 1.41 x: 1.41 x from ior-easy-write (its rate: 4.00 x)."
    assert attribution_text(change) == text
    assert shares(change) == {"ior-easy-write": 1.0, "mdtest-easy-write": 0.0, "find": 0.0, "ior-easy-read": 0.0}
    assert change.rest == pytest.approx(1.0)


def test_disturbed_phases_are_in_doubt() -> None:
    better = VALUES | {"ior-easy-write": 16 * GIB}
    (change,) = attributed(rows_of(VALUES), rows_of(better, grade="C"), ("two", "four"))
    assert "1.41 x from parts with doubtful numbers (ior-easy-write)." in attribution_text(change)


def test_without_a_score_nothing_is_attributed_and_targets_are_compared_each_by_its_name() -> None:
    assert attributed(rows_of(VALUES), [], ("a", "b")) == []
    assert attributed(rows_of(VALUES), [make_row([1.0])], ("a", "b")) == []
    several = [*rows_of(VALUES), *rows_of(VALUES, target="scratch")]
    assert [change.score for change in attributed(rows_of(VALUES), several, ("a", "b"))] == ["IO500 of disk"]


@pytest.fixture
def summit(tmp_path: Path, capsys: Capture) -> str:
    assert run(["import", str(SUMMIT), "--result", str(tmp_path / "summit")]) == EXIT_OK
    capsys.readouterr()
    return str(tmp_path / "summit")


@pytest.mark.parametrize(("by", "base"), [("target", "160x16"), ("nodes", "160"), ("ranks", "2560"), ("ppn", "16")])
def test_runs_that_differ_in_several_things_stand_side_by_side(
    by: str, base: str, summit: str, capsys: Capture
) -> None:
    """Each phase and score of both, what differs said once, and shares of the logarithm of the ratio."""
    assert run(["compare", summit, "--by", by, "--base", base, "--format", "json"]) == EXIT_OK
    found = json.loads(capsys.readouterr().out)
    phases = {cell["setting"]["access"]: cell for cell in found["cells"]}
    published = json.loads(SUMMIT.read_text(encoding="utf-8"))["runs"]
    first, second = (run_["phases"] for run_ in published)
    assert {name.replace("_", "-") for name in first} == set(phases)
    for name in first:
        assert phases[name.replace("_", "-")]["ratio"] == pytest.approx(second[name][0] / first[name][0])
    (differing,) = found["differing"].values()
    assert set(differing) == {"target", "nodes", "ranks"} - {by}
    scores = {score["name"]: score for score in found["scores"]}
    assert scores["IO500"]["other_value"] == pytest.approx(366.48, rel=1e-4)
    assert scores["IO500 bandwidth"]["ratio"] == pytest.approx(88.2049 / 19.9883, rel=1e-3)
    (change,) = found["attributions"]
    assert sum(mover["share"] for mover in change["movers"]) == pytest.approx(1.0)
    hard = next(mover for mover in change["movers"] if mover["name"] == "ior-hard-write")
    ratio = scores["IO500"]["ratio"]
    assert hard["share"] == pytest.approx(math.log(0.572 / 0.021) / 8 / math.log(ratio), rel=1e-6)


def test_every_form_has_the_phases_and_what_they_do_to_the_score(summit: str, capsys: Capture) -> None:
    assert run(["compare", summit]) == EXIT_OK
    out = capsys.readouterr().out
    assert "504x2 and 160x16 also differ in nodes (504, 160) and ranks (1008, 2560)." in out
    assert "IO500: 285 (160x16), 366 (504x2), 1.29 x" in out
    lines = [line.split() for line in out.splitlines() if line.strip().startswith(("ior-", "mdtest-", "find"))]
    assert [line[0] for line in lines] == [
        name for name, phase in BY_NAME.items() if phase.mode == "standard" and phase.scored
    ]
    assert ["ior-hard-write", "0.02100", "GiB/s", "0.5720", "GiB/s", "27.2", "x", "1.51", "x", "+164", "%"] in lines
    assert run(["compare", summit, "--format", "md"]) == EXIT_OK
    assert "| ior-hard-write | 0.02100 GiB/s | 0.5720 GiB/s | 27.2 x | 1.51 x | +164 % |" in capsys.readouterr().out
    assert run(["compare", summit, "--format", "csv"]) == EXIT_OK
    read = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert sum(float(line["score_share"]) for line in read) == pytest.approx(1.0)


def test_what_cannot_be_compared_is_refused_with_what_can(summit: str, capsys: Capture) -> None:
    assert run(["compare", summit, "--by", "result"]) == EXIT_BAD_INPUT
    assert "take --by target (12 pairs) or --by ranks (12 pairs) or --by nodes (12 pairs)" in capsys.readouterr().err
