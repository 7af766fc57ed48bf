# SPDX-License-Identifier: Apache-2.0
"""What makes a result doubtful stands in one box before any number, in all that a result is written to."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from support import recorded_results
from support.data import some
from support.make_records import make_run
from support.sample_result import Shape, make_summary
from ullage.exporters.markdown import render as render_markdown
from ullage.exporters.markdown import render_brief
from ullage.model.flags import Flag
from ullage.model.summary import Finding, Part, Row, Score, Summary
from ullage.report.data import Launch, ReportData, load
from ullage.report.first_screen import front_of
from ullage.report.html import render
from ullage.report.picture import front_svg
from ullage.report.screen import print_screen
from ullage.report.soundness import soundness
from ullage.report.terminal import print_everything
from ullage.results.folder import ResultFolder


def with_rows(**changes: object) -> Summary:
    """A summary of eight rows, each with ``changes``."""
    summary = make_summary(Shape(ranks=(1, 2), blocks=(131072,)))
    return summary.model_copy(update={"rows": [row.model_copy(update=changes) for row in summary.rows]})


def sound() -> Summary:
    return with_rows(grade="A", flags=[], verdict="cold")


GRADE_C = "(grade C: they took 5 % or more of the time)"


def started(number: int, ended: str) -> Launch:
    run = make_run(2).model_copy(update={"started": f"2026-11-21T04:15:{number:02}Z"})
    return Launch(f"plans/{number:03}.json", run, ended, "")


def first_rows(rows: list[Row], count: int, **changes: object) -> list[Row]:
    return [row.model_copy(update=changes) if at < count else row for at, row in enumerate(rows)]


def test_a_sound_result_has_one_quiet_line() -> None:
    found = soundness(ReportData(sound()))
    clean = "grade A (other programs took less than 5 % of the time)"
    assert (found.title, found.lines) == ("", (f"No row is INVALID or known to be disturbed: 8 rows, {clean}.",))
    half = sound().model_copy(update={"rows": first_rows(sound().rows, 4, grade="C")})
    found = soundness(ReportData(half))
    assert not found.title
    (line,) = found.lines
    assert line.startswith(f"Other programs disturbed 4 of 8 rows {GRADE_C}")
    assert line.endswith(". No other row was disturbed.")
    unknown = "grade ? (?: too short to know what other programs took)"
    for grade, said in {"": "not graded", "?": unknown}.items():
        (line,) = soundness(ReportData(with_rows(grade=grade, flags=[], verdict="cold"))).lines
        assert line == f"No row is INVALID or known to be disturbed: 8 rows, {said}."
    assert soundness(ReportData(sound().model_copy(update={"rows": []}))).title == "No number was measured"


def test_an_interrupted_run_names_what_it_has_and_the_command_that_goes_on() -> None:
    data = ReportData(sound(), launches=(started(1, "complete"), started(2, "interrupted")), folder="/tmp/a result")
    found = soundness(data)
    assert found.title == "Interrupted"
    (line,) = found.lines
    assert line == ("The run was interrupted: its last launch did not end. It has 8 rows.")
    assert found.command == "ullage resume '/tmp/a result'"
    killed = replace(data, launches=(started(1, "complete"), started(2, "")))
    assert soundness(killed) == found
    went_on = replace(data, launches=(started(3, "complete"), *data.launches))
    assert not soundness(went_on).title


def test_suites_that_are_not_complete_are_named() -> None:
    parts = [
        Part(suite="cpu", status="complete"),
        Part(suite="disk", status="interrupted"),
        Part(suite="io500", status="not begun"),
        Part(suite="noise", status="failed"),
        Part(suite="pmem", status="not available"),
    ]
    found = soundness(ReportData(sound().model_copy(update={"parts": parts})))
    assert found.title == "Interrupted, failed in part"
    assert "disk (interrupted) and io500 (not started) of 5 suites" in found.lines[0]
    assert found.lines[1].startswith("Some suites failed: noise (failed). ")
    assert not any("pmem" in line for line in found.lines)


def test_what_failed_is_named_once() -> None:
    failure = Finding(kind="failure", title="2 cases failed on a", text="...", severity="warning")
    found = soundness(ReportData(sound().model_copy(update={"findings": [failure, failure]})))
    assert found.lines == ("2 cases failed on a. The run has 8 rows. Remove the cause, then continue.",)


def test_disturbed_and_invalid_rows_are_counted_of_all() -> None:
    summary = sound()
    rows = first_rows(first_rows(summary.rows, 5, grade="C"), 2, flags=[Flag(code="INVALID:above-ceiling")])
    found = soundness(ReportData(summary.model_copy(update={"rows": rows})))
    assert found.title == "Mostly disturbed, partly INVALID"
    assert found.lines == (
        f"Other programs disturbed 5 of 8 rows {GRADE_C}. Run again when the machine is idle.",
        "2 of 8 rows are INVALID and do not count: breaks a limit of physics.",
    )


def test_a_score_of_a_run_that_was_shorter_on_purpose_is_no_cause_for_doubt() -> None:
    summary = sound()
    rows = first_rows(summary.rows, 1, flags=[Flag(code="INVALID:b_eff_io")], metric="b_eff_io")
    for look, count in ((True, 0), (False, 1)):
        scores = [Score(name="b_eff_io", value=1.0, valid=False, look=look)]
        found = soundness(ReportData(summary.model_copy(update={"rows": rows, "scores": scores})))
        assert bool(found.title) == bool(count)


def plain(text: str) -> str:
    """``text`` on one line without what forms put around words."""
    return " ".join(text.translate(str.maketrans("|>*`\\", "     ")).split())


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    result = ResultFolder.open(recorded_results.unpack("sweep_interrupted", tmp_path_factory.mktemp("result")))
    from ullage.runs.summary import build_summary

    return load(result, build_summary(result))


def test_all_outputs_begin_with_the_same_box(interrupted: ReportData) -> None:
    found = soundness(interrupted)
    assert "Interrupted" in found.title
    assert f"ullage resume {interrupted.folder}" == found.command
    page = render(interrupted)
    made = {
        "page": page[page.index("<h1") : page.index("</header>")],
        "picture": front_svg(*front_of(interrupted)),
        "brief": render_brief(interrupted),
        "markdown": render_markdown(interrupted),
        "screen": printed(interrupted, everything=False),
        "terminal": printed(interrupted, everything=True),
    }
    for form, text in some(made.items()):
        at = plain(text).find(found.title)
        assert at >= 0, form
        assert "ullage resume" in text, form
        before = text[: text.find(found.title.split(",")[0])]
        assert "B/s" not in before, form


def printed(data: ReportData, *, everything: bool) -> str:
    console = Console(file=io.StringIO(), width=100)
    (print_everything if everything else print_screen)(data, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_page_leads_with_the_box_of_a_failed_run(tmp_path: Path) -> None:
    path = recorded_results.unpack("sweep_failing", tmp_path)
    from ullage.runs.summary import build_summary

    data = load(ResultFolder.open(path), build_summary(ResultFolder.open(path)))
    found = soundness(data)
    assert "failed in part" in found.title.lower()
    assert "2 cases failed on a" in " ".join(found.lines)
