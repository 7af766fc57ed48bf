# SPDX-License-Identifier: Apache-2.0
"""Which message sizes moved b_eff from one run to another."""

import pytest

from support.recorded_results import unpack
from ullage.analysis.attribution import Attribution
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.runs.summary import build_summary
from ullage.suites.b_eff.attribution import attributed


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return build_summary(ResultFolder.open(unpack("b_eff", tmp_path_factory.mktemp("b_eff")))).rows


def faster(rows: list[Row], factor: float, size: int | None = None) -> list[Row]:
    """The rows with messages of ``size``, or all messages, so many times as fast."""
    return [
        row.model_copy(update={"median": row.median * factor})
        if row.unit == "B/s" and size in (None, row.params.get("message_bytes"))
        else row
        for row in rows
    ]


def change(first: list[Row], second: list[Row]) -> Attribution:
    (found,) = attributed(first, second, ("a", "b"))
    return found


def test_sizes_account_for_the_change(rows: list[Row]) -> None:
    found = change(rows, faster(rows, 2.0))
    assert found.ratio == pytest.approx(2.0)
    assert found.rest == pytest.approx(1.0)
    assert len(found.movers) == 21
    assert {round(mover.ratio, 9) for mover in found.movers} == {2.0}
    assert found.movers[-1].moved == max(mover.moved for mover in found.movers), "large messages have most of the mean"


def test_one_size_alone_moves_the_score(rows: list[Row]) -> None:
    largest = max(int(row.params["message_bytes"]) for row in rows if row.metric == "pattern_bandwidth")
    found = change(rows, faster(rows, 2.0, largest))
    assert [mover.name for mover in found.movers if mover.moved] == ["messages of 64K"]


def test_runs_with_other_patterns_are_compared_by_their_groups(rows: list[Row]) -> None:
    fewer = [row for row in rows if row.params.get("patterns") != "ring-5"]
    found = change(fewer, faster(rows, 2.0))
    assert [mover.name for mover in found.movers] == ["rings", "random rings"]
    assert found.movers[1].ratio == pytest.approx(2.0)


def test_nothing_is_said_without_a_score(rows: list[Row]) -> None:
    assert attributed(rows, [], ("a", "b")) == []
    assert attributed(rows, [row for row in rows if row.metric != "pattern_bandwidth"], ("a", "b")) == []
