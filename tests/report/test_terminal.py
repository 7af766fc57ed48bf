# SPDX-License-Identifier: Apache-2.0
"""The report in the terminal."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from support import phase_result
from support.flags import flags_of
from support.sample_result import Shape, make_rows, make_summary
from ullage.model.summary import Finding, Score, Summary
from ullage.report.data import ReportData, load
from ullage.report.terminal import print_report


def printed(summary: Summary, width: int = 160) -> str:
    stream = io.StringIO()
    print_report(ReportData(summary), Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


def test_the_same_words_and_columns_as_the_page() -> None:
    text = printed(make_summary())
    assert "sweep of nvme and scratch" in text
    assert "Of 64 rows: 32 synced, 24 cold, 4 warm, 4 mixed." in text
    assert "warning: scratch writes with 8M blocks" in text
    assert "warning: 8 ranks share 4 cores" in text
    heads = next(line for line in text.splitlines() if "median" in line)
    assert heads.split() == [
        "target", "access", "ranks", "block", "median", "interval", "or", "range", "verdict", "grade", "of", "ceiling",
        "n", "flags",
    ]  # fmt: skip


def test_few_rows_are_shown_whole_and_many_are_not() -> None:
    assert "All rows" in printed(make_summary(Shape(targets=("nvme",), accesses=("read",))))
    assert "All rows" not in printed(make_summary())


@pytest.mark.parametrize("width", [20, 40, 60, 80, 300])
def test_no_line_is_wider_than_the_terminal_and_no_number_is_lost(width: int) -> None:
    text = printed(make_summary(), width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_nothing_from_a_machine_moves_the_cursor_or_becomes_markup() -> None:
    evil = "\x1b[2J[red]x[/red]\r\n:smile:"
    rows = [
        row.model_copy(update={"target": evil, "verdict": evil, "flags": flags_of(evil)}) for row in make_rows(Shape())
    ]
    finding = Finding(kind="a", text=evil)
    text = printed(make_summary().model_copy(update={"rows": rows, "findings": [finding], "events": [finding]}))
    assert "\x1b" not in text
    assert "\r" not in text
    assert "[red]x[/red]" in text
    assert ":smile:" in text


def test_many_findings_of_a_kind_are_cut_and_it_is_said() -> None:
    findings = [Finding(kind="ratio", text=f"finding {index}.") for index in range(30)]
    text = printed(make_summary().model_copy(update={"findings": findings}))
    assert "finding 5." in text
    assert "finding 6." not in text
    assert "24 more ratio findings in the report" in text


def test_a_score_that_is_not_valid_says_why() -> None:
    score = Score(name="total", unit="GB/s", value=1.5, valid=False, reasons=["stonewall below 300 s"])
    text = printed(make_summary().model_copy(update={"scores": [score]}))
    lines = [line.strip() for line in text.partition("Findings")[0].splitlines()]
    assert lines[lines.index("Scores") :][:5] == [
        "Scores", "total", "score: 1.500 GB/s", "INVALID", "stonewall below 300 s",
    ]  # fmt: skip


def test_named_phases_are_shown_with_all_that_their_records_tell(tmp_path: Path) -> None:
    stream = io.StringIO()
    print_report(load(phase_result.write_result(tmp_path / "r")), Console(file=stream, width=200, highlight=False))
    text = stream.getvalue()
    heads = ["Scores", "Findings", "Phases", "Where the score comes from", "Latency of the operations", "Ranks"]
    assert [line for line in text.splitlines() if line in heads] == heads
    assert "Best settings" not in text
    assert "All rows" not in text
    assert "rank 5 on node001: 312 s" in text


def test_an_empty_summary_is_printed() -> None:
    empty = make_summary().model_copy(update={"rows": [], "findings": [], "events": []})
    assert "No row was measured." in printed(empty)
