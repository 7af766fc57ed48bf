# SPDX-License-Identifier: Apache-2.0
"""Rows under floors: what passes is shown, what fails is shown, and all else cannot be told."""

from pathlib import Path
from typing import Any

import pytest

from support.flags import flags_of
from ullage.analysis.acceptance import NodeRows, judge, read_floors
from ullage.errors import UserError
from ullage.model.acceptance import Floor, Judged
from ullage.model.summary import Ceiling, Row

SAMPLES = [9.7, 9.8, 10.0, 10.0, 10.2, 10.3, 10.4]


def row(samples: list[float] | None = None, **more: object) -> Row:
    values = SAMPLES if samples is None else samples
    known: dict[str, Any] = {
        "metric": "memory_bandwidth",
        "unit": "B/s",
        "better": "more",
        "target": "memory",
        "params": {"threads": 1},
        "median": sorted(values)[len(values) // 2],
        "low": min(values),
        "high": max(values),
        "repetitions": values,
        "verdict": "measured",
        "grade": "A",
    }
    return Row.model_validate(known | more)


def one(floor: Floor, *rows: Row) -> Judged:
    (found,) = judge([floor], [NodeRows("", rows)], "memory")
    return found


@pytest.mark.parametrize(
    ("better", "bound", "verdict"),
    [("more", 9.0, "pass"), ("more", 11.0, "fail"), ("more", 10.0, "cannot tell"),
     ("less", 11.0, "pass"), ("less", 9.0, "fail"), ("less", 10.0, "cannot tell")],
)  # fmt: skip
def test_a_row_is_judged_by_its_interval(better: str, bound: float, verdict: str) -> None:
    found = one(Floor(metric="memory_bandwidth", bound=bound), row(better=better))
    assert found.verdict == verdict
    assert found.shown is not None
    if verdict != "cannot tell":
        # What is shown lies between the bound and the median: nothing better is claimed than was measured.
        assert min(bound, 10.0) < found.shown < max(bound, 10.0)


def test_more_confidence_needs_more_repetitions() -> None:
    floor = Floor(metric="memory_bandwidth", bound=1.0, confidence=0.999)
    found = one(floor, row())
    assert (found.verdict, found.reason) == ("cannot tell", "7 repetitions show too little; 11 are needed")
    assert one(floor, row(SAMPLES * 2)).verdict == "pass"


def test_a_share_is_of_the_ceiling_in_the_direction_of_the_metric() -> None:
    ceiling = Ceiling(value=20.0, kind="declared", source="datasheet")
    floor = Floor(metric="memory_bandwidth", share=0.4)
    assert one(floor, row(ceiling=ceiling, share=0.5)).needed == 8.0
    assert one(floor, row(ceiling=ceiling, share=0.5)).verdict == "pass"
    least = Ceiling(value=2.0, kind="declared", source="datasheet")
    assert one(floor, row(ceiling=least, share=0.2, better="less")).needed == 5.0
    assert one(floor, row(ceiling=least, share=0.2, better="less")).verdict == "fail"


def test_without_a_ceiling_no_share_can_be_told() -> None:
    found = one(Floor(metric="memory_bandwidth", share=0.4), row())
    assert (found.verdict, found.needed) == ("cannot tell", None)
    assert "no ceiling" in found.reason


@pytest.mark.parametrize(
    ("more", "reason"),
    [({"grade": "C"}, "other work disturbed the row (grade C)"),
     ({"flags": flags_of("INVALID:above-ceiling")}, "the row is INVALID")],
)  # fmt: skip
def test_a_disturbed_row_does_not_fail_and_an_impossible_one_does_not_pass(more: dict[str, Any], reason: str) -> None:
    found = one(Floor(metric="memory_bandwidth", bound=1.0 if "flags" in more else 1e15), row(**more))
    assert found.verdict == "cannot tell"
    assert reason in found.reason


def test_a_floor_that_is_reached_although_others_disturbed_the_row_is_passed() -> None:
    assert one(Floor(metric="memory_bandwidth", bound=1.0), row(grade="C")).verdict == "pass"


def test_a_floor_is_for_the_rows_that_fit_it() -> None:
    rows = [row(params={"threads": count, "access": "triad"}) for count in (1, 2, 16)]
    most = Floor(metric="memory_bandwidth", where={"threads": "most"}, bound=1.0)
    assert one(most, *rows).params["threads"] == 16
    two = Floor(metric="memory_bandwidth", where={"threads": 2, "access": "triad"}, bound=1.0)
    assert one(two, *rows).params["threads"] == 2
    assert len(judge([Floor(metric="memory_bandwidth", bound=1.0)], [NodeRows("", rows)], "memory")) == 3


@pytest.mark.parametrize(
    "floor",
    [Floor(metric="clock", bound=1.0), Floor(metric="memory_bandwidth", suite="cpu", bound=1.0),
     Floor(metric="memory_bandwidth", target="x", bound=1.0),
     Floor(metric="memory_bandwidth", where={"threads": 9}, bound=1.0),
     Floor(metric="memory_bandwidth", where={"streams": "most"}, bound=1.0)],
)  # fmt: skip
def test_what_was_not_measured_cannot_be_told(floor: Floor) -> None:
    found = one(floor, row())
    assert (found.verdict, found.reason) == ("cannot tell", "no row of that kind was measured")


def test_each_node_is_judged_by_each_floor() -> None:
    nodes = [NodeRows("n0", [row()]), NodeRows("n1", [row([value / 2 for value in SAMPLES])])]
    found = judge([Floor(metric="memory_bandwidth", bound=9.0)], nodes, "memory")
    assert [(one.node, one.verdict) for one in found] == [("n0", "pass"), ("n1", "fail")]


def write(folder: Path, text: str) -> Path:
    path = folder / "reqs.toml"
    path.write_text(text)
    return path


def test_floors_have_the_units_that_people_write(tmp_path: Path) -> None:
    text = """
    confidence = "99%"
    [[require]]
    metric = "memory_bandwidth"
    suite = "memory"
    where = { access = "triad", threads = "most" }
    least = "180 GB/s"
    [[require]]
    metric = "access_time"
    most = "110 ns"
    confidence = 0.9
    [[require]]
    metric = "compute_rate"
    share = "80 %"
    [[require]]
    metric = "clock"
    least = "2.1 GHz"
    [[require]]
    metric = "noise_share"
    most = "1%"
    """
    where = {"access": "triad", "threads": "most"}
    assert read_floors(write(tmp_path, text)) == [
        Floor(metric="memory_bandwidth", suite="memory", where=where, bound=180e9, confidence=0.99),
        Floor(metric="access_time", bound=110e-9, confidence=0.9),
        Floor(metric="compute_rate", share=0.8, confidence=0.99),
        Floor(metric="clock", bound=2.1e9, confidence=0.99),
        Floor(metric="noise_share", bound=0.01, confidence=0.99),
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "reqs.toml: declares no floor; write [[require]] above each"),
        ("requires = 1", "reqs.toml: unknown key 'requires'; did you mean 'require'?"),
        ("[[require]]\nleast = 1", "reqs.toml: require 1: names no metric"),
        (
            '[[require]]\nmetric = "bandwith"\nleast = 1',
            "reqs.toml: require 1: no such metric 'bandwith'; did you mean",
        ),
        ('[[require]]\nmetric = "clock"', "reqs.toml: require 1: has no bound; give one of least"),
        ('[[require]]\nmetric = "clock"\nleast = 1\nshare = 0.5', "reqs.toml: require 1: has two bounds"),
        (
            '[[require]]\nmetric = "clock"\nmost = 1',
            "require 1: most: of clock more is better, so it has a bound 'least'",
        ),
        ('[[require]]\nmetric = "access_time"\nleast = 1', "require 1: least: of access_time less is better"),
        ('[[require]]\nmetric = "clock"\nleast = "2 furlongs"', "require 1: least: '2 furlongs' is no value of clock"),
        ('[[require]]\nmetric = "clock"\nshare = 3', "require 1: share: '3': not a share"),
        ('[[require]]\nmetric = "clock"\nleast = 1\nconfidence = 0.4', "require 1: confidence:"),
        ('[[require]]\nmetric = "clock"\nleast = 1\nwhere = { a = [1] }', "require 1: where/a"),
        ("require = [1]", "require 1: is not a table"),
        ("[[require", "reqs.toml: is not TOML"),
    ],
)
def test_each_mistake_is_one_line_with_its_place(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(UserError) as refused:
        read_floors(write(tmp_path, text))
    assert what in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file or directory; name a TOML file of floors"):
        read_floors(tmp_path / "none.toml")
