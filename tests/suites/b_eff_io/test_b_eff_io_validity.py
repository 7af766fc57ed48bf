# SPDX-License-Identifier: Apache-2.0
"""What voids a value, and what is said about it."""

from pathlib import Path

import pytest

from support.b_eff_io_world import At, World, usual_options
from ullage.suites.b_eff_io.measured import BEffIoRun, read_run
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.values import conditions, criteria, is_look, reasons_against, reasons_of_options, spots_of


def course_of(folder: Path, **world: object) -> BEffIoRun:
    options = world.pop("options", usual_options(partitions=[4]))
    assert isinstance(options, BEffIoOptions)
    made = World(options, **world)  # type: ignore[arg-type]
    return read_run(made.write(folder / "result"), options)


def reasons(io_run: BEffIoRun, **more: bool) -> list[str]:
    return reasons_against(io_run, spots_of(io_run), **more)


def test_a_run_by_the_definition_is_valid(tmp_path: Path) -> None:
    io_run = course_of(tmp_path)
    assert reasons(io_run) == []
    assert list(criteria(io_run, spots_of(io_run)).values()) == [True, True, True]
    # The original asks for --rewrite neither.
    assert reasons(course_of(tmp_path / "x", options=usual_options(partitions=[4], rewrite=False))) == []


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"time_s": 60.0}, "the scheduled time is 60.0 s, below 30 min"),
        ({"rule": "1.0"}, "loops end by the rule of release 1.0, not that of 2.1"),
        ({"shared_pointer": False}, "pattern type shared does without shared file pointers"),
        ({"verify": "none"}, "what is read is not verified"),
        ({"lmax": 1 << 20, "memory": None}, "Lmax is 1M, below 2M"),
    ],
)
def test_what_was_asked_for_voids(tmp_path: Path, changed: dict[str, object], reason: str) -> None:
    io_run = course_of(tmp_path, options=usual_options(partitions=[4], **changed))
    assert reasons(io_run) == [reason]


def test_half_an_hour_over_three_partitions_is_not_valid(tmp_path: Path) -> None:
    """The trap of the original's help text: 600 s each."""
    io_run = course_of(tmp_path, options=usual_options(partitions=[1, 2, 4], time_s=1800.0))
    assert reasons(io_run) == ["the scheduled time is 10m00s for each partition, below 30 min"]
    assert list(criteria(io_run, spots_of(io_run)).values()) == [False, True, True]


def test_an_engine_that_did_without_shared_pointers_is_believed(tmp_path: Path) -> None:
    io_run = course_of(tmp_path, facts=lambda _: {"shared_pointer": False})
    assert reasons(io_run) == ["pattern type shared does without shared file pointers"]


def test_data_that_came_back_wrong_voids(tmp_path: Path) -> None:
    io_run = course_of(tmp_path, fails=lambda at: at.access == "read" and at.pattern.number == 3)
    found = reasons(io_run)
    assert "3 blocks came back wrong" in found
    assert "pattern 3 of type scatter failed (read with 4 processes)" in found
    assert list(criteria(io_run, spots_of(io_run)).values()) == [True, True, False]


def test_a_hang_voids_and_is_told_once(tmp_path: Path) -> None:
    options = usual_options(time_s=7200.0)
    io_run = course_of(tmp_path, options=options, hangs=lambda at: at.pattern.number == 12)
    assert reasons(io_run) == [
        "pattern 12 of type shared hung, left out from then on (write, rewrite and read with 2 and 4 processes)"
    ]


@pytest.mark.parametrize(
    ("end", "text"), [("overtime", "ended early for lack of time"), ("space", "ended early for lack of space")]
)
def test_patterns_that_ended_early_void(tmp_path: Path, end: str, text: str) -> None:
    def facts(at: At) -> dict[str, object]:
        return {"end": end} if at.pattern.number in {20, 21} and at.access == "read" else {}

    io_run = course_of(tmp_path, options=usual_options(time_s=7200.0), facts=facts)
    assert reasons(io_run) == [f"4 patterns {text} (read with 2 and 4 processes)"]


def test_more_processes_than_cores_void(tmp_path: Path) -> None:
    assert reasons(course_of(tmp_path, oversubscribed=True)) == ["oversubscribed: 4 processes on a node share 2 cores"]


def test_a_target_that_keeps_nothing_voids(tmp_path: Path) -> None:
    assert reasons(course_of(tmp_path), holds_data=False) == ["no storage is behind the target"]


def test_a_run_that_was_stopped_says_what_is_lacking(tmp_path: Path) -> None:
    assert reasons(course_of(tmp_path, stop_after=1)) == ["rewrite did not run", "read did not run"]
    no_rewrite = usual_options(partitions=[4], rewrite=False)
    assert reasons(course_of(tmp_path / "x", options=no_rewrite, stop_after=1)) == [
        "rewrite of type scatter did not run",
        "read did not run",
    ]


def test_of_several_partitions_each_has_reasons_of_its_own(tmp_path: Path) -> None:
    options = usual_options(time_s=7200.0)
    io_run = course_of(tmp_path, options=options, fails=lambda at: at.ranks == 2 and at.pattern.number == 42)
    two, four = spots_of(io_run)
    assert reasons_against(io_run, [four]) == []
    assert len(reasons_against(io_run, [two])) > 0
    assert reasons_against(io_run, [two, four]) != []


def test_conditions_set_a_value_apart_without_voiding_it() -> None:
    assert conditions(usual_options()) == []
    found = conditions(usual_options(lmax=4 << 20, memory=None, unique_open=False, cache="advise"))
    assert [text.split(",")[0].split(" ")[0] for text in found] == ["Lmax", "files", "the"]


def test_patterns_that_ended_early_in_a_short_run_leave_it_a_look() -> None:
    short, whole = usual_options(time_s=20.0), usual_options()
    early = ["2 patterns ended early for lack of space (write with 2 processes)"]
    asked = reasons_of_options(short)
    assert is_look([*asked, *early], short)
    assert not is_look([*asked, "1 pattern failed (read with 2 processes)"], short)
    assert not is_look(early, whole)
