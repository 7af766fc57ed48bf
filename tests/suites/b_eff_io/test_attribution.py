# SPDX-License-Identifier: Apache-2.0
"""Which pattern types moved b_eff_io from one run to another."""

import json
import math
from pathlib import Path

import pytest

from support.recorded_results import unpack
from ullage.cli.app import run
from ullage.errors import EXIT_OK
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.runs.summary import build_summary
from ullage.suites.b_eff_io.attribution import attributed


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack("b_eff_io", tmp_path_factory.mktemp("b_eff_io"))


@pytest.fixture(scope="module")
def rows(result: Path) -> list[Row]:
    return build_summary(ResultFolder.open(result)).rows


def of_ranks(rows: list[Row], ranks: int) -> list[Row]:
    return [row for row in rows if row.params.get("ranks") == ranks]


def test_partitions_of_one_result_stand_side_by_side(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", str(result), "--by", "ranks", "--format", "json"]) == EXIT_OK
    found = json.loads(capsys.readouterr().out)
    assert [score["name"] for score in found["scores"]] == ["b_eff_io", "W'", "B_write", "B_rewrite", "B_read"]
    (change,) = found["attributions"]
    assert (change["base_name"], change["other_name"]) == ("1", "2")
    assert change["ratio"] == pytest.approx(found["scores"][0]["ratio"])
    assert sum(mover["share"] for mover in change["movers"]) == pytest.approx(1.0, abs=0.01)
    assert len(change["movers"]) == 11


def test_a_form_without_types_is_divided_into_its_halves(rows: list[Row]) -> None:
    one, other = ([row for row in of_ranks(rows, ranks) if row.metric != "type_bandwidth"] for ranks in (1, 2))
    (change,) = attributed(one, other, ("a", "b"))
    assert [mover.name for mover in change.movers] == ["W'", "B_read"]
    assert change.movers[1].moved == pytest.approx(math.log(change.movers[1].ratio) / 2)
    assert change.rest == pytest.approx(1.0)


def test_partitions_of_two_results_are_compared_each_with_its_own(rows: list[Row]) -> None:
    found = attributed(rows, rows, ("a", "b"))
    assert [change.score.partition(" with ")[0] for change in found] == [
        "b_eff_io of 1 process",
        "b_eff_io of 2 processes",
    ]
    assert {change.ratio for change in found} == {1.0}
    assert attributed(rows, [], ("a", "b")) == []
