# SPDX-License-Identifier: Apache-2.0
"""The sentences above the tables."""

from typing import Literal

from support.sample_result import Shape, make_summary
from ullage.model.summary import Finding
from ullage.quantity import listing
from ullage.report import texts
from ullage.report.data import ReportData


def test_title_and_scope() -> None:
    data = ReportData(make_summary())
    assert texts.title(data) == "sweep of nvme and scratch"
    assert texts.scope(data.view) == (
        "2 targets, 4 rank counts (1, 2, 4, 8), 4 block sizes (128K, 512K, 2M, 8M), write and read"
    )


def test_verdict_line_counts_every_row() -> None:
    summary = make_summary()
    line = texts.verdict_line(summary.rows)
    assert line == "Of 64 rows: 32 synced, 24 cold, 4 warm, 4 mixed. Contamination grade: 48 A, 16 B."


def test_verdict_line_says_what_is_without_interval() -> None:
    line = texts.verdict_line(make_summary(Shape(single_sample=True)).rows)
    assert line.endswith("64 rows of one sample, without an interval.")


def test_verdicts_are_counted_of_what_moved_bytes_alone() -> None:
    moved = make_summary().rows[:4]
    stat = moved[0].model_copy(update={"unit": "op/s", "case": "s", "params": {"access": "stat"}, "verdict": "warm"})
    computed = moved[0].model_copy(update={"unit": "op/s", "case": "c", "params": {}, "verdict": "none"})
    verdicts = texts.verdict_line(moved).partition(": ")[2]
    assert texts.verdict_line([*moved, stat, computed]).startswith(
        f"6 rows, of which 4 moved bytes: {verdicts.partition('. ')[0]}. "
    )
    assert texts.verdict_line([stat, computed]).startswith("2 rows. ")


def test_a_grade_that_is_not_known_is_explained() -> None:
    rows = [row.model_copy(update={"grade": "?"}) for row in make_summary().rows[:2]]
    assert "2 ? (?: not known whether other programs used the machine)." in texts.verdict_line(rows)


def test_an_empty_summary_has_words_too() -> None:
    data = ReportData(make_summary().model_copy(update={"rows": []}))
    assert texts.title(data) == "sweep"
    assert texts.scope(data.view) == ""
    assert texts.verdict_line([]) == "No row was measured."


def test_long_lists_are_cut() -> None:
    assert listing(["a", "b", "c", "d"], 3) == "a, b and 2 more"
    assert listing(["a"]) == "a"
    assert listing([]) == ""


def test_events_that_several_suites_share_are_told_once() -> None:
    def event(suite: str, text: str, count: int, severity: Literal["info", "warning"] = "info") -> Finding:
        return Finding(kind="budget", text=text, severity=severity, suite=suite, numbers={"count": count})

    cpu = event("cpu", "The time ended. This happened 24 times.", 24)
    disk = event("disk", "The time ended.", 1)
    warned = event("disk", "It stopped.", 1, "warning")
    assert [one.text for one in texts.events_once([cpu, disk, warned])] == [
        "It stopped. This happened in disk.",
        "The time ended. This happened 25 times in cpu and disk.",
    ]


def test_events_of_a_single_suite_stay_as_they_are() -> None:
    often = Finding(kind="budget", text="The time ended. This happened 2 times.", numbers={"count": 2})
    other = Finding(kind="budget", text="The clock jumped.", numbers={"count": 1})
    assert texts.events_once([often, other]) == [often, other]
