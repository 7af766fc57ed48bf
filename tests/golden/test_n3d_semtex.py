# SPDX-License-Identifier: Apache-2.0
"""N3D/Semtex: what follows from two published cases, worked out again, and the models that do and do not hold."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ullage.errors import UserError
from ullage.importers import read
from ullage.model.summary import Finding, Summary

TABLE = Path(__file__).parent / "n3d_semtex.json"


@cache
def _published() -> list[dict[str, Any]]:
    """The published numbers, read without the code under test."""
    return json.loads(TABLE.read_text())["cases"]


@cache
def _summary() -> Summary:
    return read(TABLE)


def _found(kind: str, case: str = "", **numbers: object) -> Finding:
    wanted = numbers | ({"case": case} if case else {})
    (found,) = [
        one
        for one in _summary().findings
        if one.kind == kind and all(one.numbers.get(name) == value for name, value in wanted.items())
    ]
    return found


def test_every_published_time_is_a_row() -> None:
    rows = {(row.params["case"], row.target): row for row in _summary().rows}
    assert {key: row.median for key, row in rows.items()} == {
        (case["name"], held): seconds for case in _published() for held, seconds in case["seconds"].items()
    }
    assert {row.verdict for row in rows.values()} == {"unknown(imported)"}
    assert {row.params["ranks"] for row in rows.values()} == {72, 512}


@pytest.mark.parametrize(("case", "state_bytes"), [("medium", 5_000_000), ("large", 4_687_500)])
def test_files_are_states_of_12500_steps(case: str, state_bytes: int) -> None:
    numbers = _found("published-states", case).numbers
    assert (numbers["state_bytes"], numbers["steps"]) == (state_bytes, 12_500)
    assert numbers["step_s"] == pytest.approx({"medium": 0.332, "large": 0.36}[case])


@pytest.mark.parametrize(("case", "rate", "files"), [("medium", 1.08e9, 217), ("large", 6.67e9, 1422)])
def test_rates_that_hide_the_writes_are_those_of_half_the_time(case: str, rate: float, files: float) -> None:
    numbers = _found("published-demand", case).numbers
    assert numbers["bytes_per_s"] == pytest.approx(rate, rel=5e-3)
    assert numbers["files_per_s"] == pytest.approx(files, rel=5e-3)


def test_nodes_follow_from_the_other_volume_which_does_not_agree() -> None:
    assert _found("published-nodes", "medium").numbers["needed_nodes"] == 16
    large = _found("published-nodes", "large")
    assert (large.numbers["needed_nodes"], large.numbers["stated_nodes"]) == (157, 160)
    assert large.severity == "warning"
    assert "It states 30 TB of files elsewhere: the two volumes do not agree." in large.text


@pytest.mark.parametrize(
    ("case", "target", "exposed", "rate", "operation"),
    [
        ("medium", "filesystem", 1500, 6.0e9, 0.83e-3),
        ("large", "filesystem", 71_000, 0.845e9, 5.55e-3),
        ("medium", "pmem_as_io", 200, 3 * 15e9, None),
        ("large", "pmem_as_io", 200, 22 * 13.6e9, None),
    ],
)
def test_exposed_io_is_what_memory_does_not_need(
    case: str, target: str, exposed: float, rate: float, operation: float | None
) -> None:
    numbers = _found("published-exposed", case, target=target).numbers
    assert numbers["exposed_s"] == exposed
    assert numbers["bytes_per_s"] == pytest.approx(rate, rel=5e-3)
    if operation is not None:
        assert numbers["operation_s"] == pytest.approx(operation, rel=5e-3)


def test_one_pair_of_rates_gives_both_cases_of_persistent_memory_within_rounding() -> None:
    found = _found("published-fit")
    assert found.numbers == {"write_bytes_per_s": 10e9, "read_bytes_per_s": 30e9, "fits": True}
    for case in _published():
        each = case["volume_tb"] * 1e12 / case["nodes"]
        exposed = case["seconds"]["pmem_as_io"] - case["seconds"]["pmem_as_memory"]
        assert abs(each / 10e9 + each / 30e9 - exposed) <= 100


def test_a_constant_rate_fails_for_the_file_system_and_two_points_validate_nothing() -> None:
    found = _found("published-contention")
    assert found.severity == "warning"
    assert found.numbers["predicted_s"] == pytest.approx(19_000)
    assert found.numbers["factor"] == pytest.approx(4.2, abs=0.05)
    again = math.log((60e12 / 71_000) / (9e12 / 1500)) / math.log(512 / 72)
    assert found.numbers["exponent"] == pytest.approx(again)
    assert again == pytest.approx(-0.999, abs=0.0005)
    assert found.title == "A constant rate of filesystem predicts 4.21 x too little"
    assert "The total rate changes as ranks^-0.999 from 72 to 512 ranks." in found.text
    assert "Two points fit any power law, so they do not validate it." in found.text


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"processes": 0}, "cases/0/processes"),
        ({"volume_tb": -1}, "cases/0/volume_tb"),
        ({"seconds": {"filesystem": 1}}, "cases/0/seconds: no 'pmem_as_memory'"),
        ({"unknown": 1}, "cases/0/unknown"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, change: dict[str, object], expected: str) -> None:
    table = json.loads(TABLE.read_text())
    table["cases"][0] |= change
    damaged = tmp_path / "cases.json"
    damaged.write_text(json.dumps(table))
    with pytest.raises(UserError, match=expected):
        read(damaged)


def test_a_rate_that_is_constant_is_said_to_agree(tmp_path: Path) -> None:
    table = json.loads(TABLE.read_text())
    table["cases"][1]["seconds"]["filesystem"] = 19_000
    agreeing = tmp_path / "cases.json"
    agreeing.write_text(json.dumps(table))
    (found,) = [one for one in read(agreeing).findings if one.kind == "published-contention"]
    assert found.severity == "info"
    assert "A model with a constant rate agrees." in found.text
