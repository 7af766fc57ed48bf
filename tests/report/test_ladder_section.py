# SPDX-License-Identifier: Apache-2.0
"""The section on where the rest goes, in the page and in Markdown."""

from pathlib import Path

from report.test_ladders import LADDER, SUMMARY
from support import sample_result
from ullage.exporters import load_exporters
from ullage.report.data import ReportData, load
from ullage.report.html import render
from ullage.report.sections.ladders import build


def test_the_ceilings_are_listed_with_kind_source_time_and_reason() -> None:
    content = build(ReportData(SUMMARY))
    assert content is not None
    (note,) = content.notes
    assert note.startswith("disk writes: 40.0 MB/s, 40 % of 100 MB/s. Every write is synced: costs 50.0 %")
    (grid,) = content.grids
    cells = [cell.text for cell in grid.rows[0]]
    assert cells == ["disk writes", "100 MB/s", "measured", "copying", "2026-11-27 10:00", "It moves each byte once."]


def test_without_a_rung_a_run_of_one_suite_has_no_such_section(tmp_path: Path) -> None:
    assert build(ReportData(SUMMARY.model_copy(update={"ladders": []}))) is None
    page = render(load(sample_result.write_result(tmp_path / "r")))
    assert 'id="ladders"' not in page


def test_the_page_draws_a_picture_and_says_what_to_do_of_what_is_proved() -> None:
    page = render(ReportData(SUMMARY))
    assert "<code>mount -o async</code>" in page
    section = page.partition('<section id="ladders">')[2].partition("</section>")[0]
    assert "Sync at the end." in section
    assert section.count("<svg ") == 2 + len(LADDER.rungs), "the ceiling, each rung and the rest"
    assert "<b>" not in section, "texts of a machine stay texts"
    assert "Where the rest goes" in str(load_exporters()["md"].render(ReportData(SUMMARY)))
    assert LADDER.rungs[0].what in section
