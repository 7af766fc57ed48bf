# SPDX-License-Identifier: Apache-2.0
"""The JSON form of published tables: targets by nodes and ranks per node, and every mistake named."""

import json
from typing import Any

import pytest

from ullage.errors import UserError
from ullage.suites.io500.importer import read_published, recognises_published

RUN: dict[str, Any] = {
    "nodes": 10,
    "ppn": 4,
    "phases": {"find": [2.0, 41.0], "ior_easy_write": [2.0, 365.0]},
    "score": {"bandwidth": 2.0, "iops": 2.0, "total": 2.0},
}


def _table(*runs: dict[str, Any]) -> str:
    return json.dumps({"source": "x", "runs": list(runs)})


def test_a_run_becomes_a_target_with_its_layout_and_phases_in_official_order() -> None:
    summary = read_published(_table(RUN), "t.json")
    assert {row.target for row in summary.rows} == {"10x4"}
    assert list(dict.fromkeys(row.params["phase"] for row in summary.rows)) == ["ior-easy-write", "find"]
    assert {(row.params["nodes"], row.params["ranks"]) for row in summary.rows} == {(10, 40)}
    assert {row.metric: row.median for row in summary.rows if row.params["phase"] == "ior-easy-write"} == {
        "bandwidth": 2.0 * 2**30,
        "phase_time": 365.0,
    }


def test_runs_of_one_layout_are_told_apart() -> None:
    summary = read_published(_table(RUN, RUN, RUN), "t.json")
    assert list(dict.fromkeys(row.target for row in summary.rows)) == ["10x4", "10x4 (2)", "10x4 (3)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_table(), "runs: "),
        (_table({**RUN, "nodes": 0}), "runs/0/nodes: "),
        (_table({**RUN, "phases": {}}), "runs/0/phases: "),
        (_table({**RUN, "phases": {"find": [1.0]}}), "runs/0/phases/find"),
        (_table({**RUN, "phases": {"fnid": [1.0, 1.0]}}), "unknown phase 'fnid'"),
        (_table({**RUN, "phases": {"find": [-1.0, 1.0]}}), "runs/0/phases/find/0: "),
        (_table({**RUN, "phases": {"find": [1e300, 1.0]}}), "runs/0/phases/find/0: "),
        (_table({**RUN, "color": 1}), "runs/0/color: "),
        ("{", "Invalid JSON"),
    ],
)
def test_mistakes_are_named_with_their_place(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_published(text, "t.json")
    assert str(caught.value).startswith(f"t.json: {message}")
    assert caught.value.right


def test_only_its_own_form_is_recognised() -> None:
    assert recognises_published(_table(RUN))
    assert not recognises_published('{"runs": []}')
    assert not recognises_published("ior_easy_write")
