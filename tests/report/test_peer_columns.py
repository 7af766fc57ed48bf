# SPDX-License-Identifier: Apache-2.0
"""A peer's number and the ratio to it stand in every table that has a row with one, and in no other."""

import csv
import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from support.sample_result import Shape, make_summary
from ullage.exporters import load_exporters
from ullage.model.summary import Ceiling, Peer, Summary
from ullage.quantity import DASH
from ullage.report import html
from ullage.report.contents import peer_ratio
from ullage.report.data import ReportData
from ullage.report.grids import peer_share_text
from ullage.report.row_table import columns, front_columns
from ullage.report.terminal import print_report

EVIL = "<img src=x onerror=alert(1)>"
SMALL = Shape(targets=("nvme",), accesses=("read",))


def with_peer(number: int | None, peer: Peer) -> Summary:
    """Row ``number`` has the peer; all rows for None."""
    summary = make_summary(SMALL)
    rows = [
        row.model_copy(update={"peer": peer}) if number in (None, index) else row
        for index, row in enumerate(summary.rows)
    ]
    return summary.model_copy(update={"rows": rows})


def fio(median: float, tool: str = "fio") -> Peer:
    return Peer(tool=tool, version="3.33", median=median)


def heads(found: Sequence[object]) -> list[str]:
    return [column.heading for column in found]  # type: ignore[attr-defined]


def test_the_ratio_is_ours_over_the_peers() -> None:
    row = make_summary(SMALL).rows[0]
    assert peer_ratio(row) is None
    assert peer_ratio(row.model_copy(update={"peer": fio(row.median * 2)})) == 0.5
    assert peer_ratio(row.model_copy(update={"peer": fio(0.0)})) is None


def test_the_peers_share_of_a_time_is_the_least_over_what_it_took() -> None:
    ceiling = Ceiling(value=2.0, kind="declared", source="data sheet")
    row = make_summary(SMALL).rows[0].model_copy(update={"ceiling": ceiling, "share": 1.0, "peer": fio(8.0)})
    assert peer_share_text(row.model_copy(update={"better": "more", "peer": fio(1.0)})) == "50 %"
    assert peer_share_text(row.model_copy(update={"better": "less"})) == "25 %"
    assert peer_share_text(row.model_copy(update={"better": "less", "peer": fio(0.0)})) == DASH
    assert peer_share_text(row.model_copy(update={"share": None})) == DASH, "the best of this run is no bound"


def test_without_a_peer_no_table_has_a_column_for_it() -> None:
    data = ReportData(make_summary(SMALL))
    assert not {"peer", "ratio to peer"} & {*heads(columns(data.view)), *heads(front_columns(data.view))}
    assert "ratio to peer" not in html.render(data)
    assert "ratio to peer" not in printed(data.summary)


def test_one_row_with_a_peer_gives_the_columns() -> None:
    summary = make_summary(SMALL)
    best = max(range(len(summary.rows)), key=lambda index: summary.rows[index].median)
    other = (best + 1) % len(summary.rows)
    view = ReportData(with_peer(other, fio(1e9))).view
    assert heads(columns(view))[-2:] == ["peer", "ratio to peer"]
    assert "peer" not in heads(front_columns(view)), "the best setting has none"
    assert heads(front_columns(ReportData(with_peer(best, fio(1e9))).view))[-2:] == ["peer", "ratio to peer"]
    texts = [[column.text(row) for column in columns(view)[-2:]] for row in view.summary.rows]
    assert texts[best] == ["\u2013", "\u2013"]
    assert texts[other][0] == "1.00 GB/s (fio 3.33)"
    assert float(texts[other][1]) == pytest.approx(summary.rows[other].median / 1e9, rel=5e-3)


def printed(summary: Summary) -> str:
    stream = io.StringIO()
    print_report(ReportData(summary), Console(file=stream, width=240, highlight=False))
    return stream.getvalue()


def test_the_number_is_shown_in_every_form() -> None:
    summary = with_peer(None, fio(1e9))
    data = ReportData(summary)
    exporters = load_exporters()
    markdown, page, text = str(exporters["md"].render(data)), html.render(data), printed(summary)
    assert markdown.count("ratio to peer") == 2, "best settings and all rows"
    assert "1.00 GB/s (fio 3.33)" in markdown
    assert page.count("ratio to peer</th>") == 2
    assert "1.00 GB/s (fio 3.33)" in page
    assert text.count("ratio to peer") == 2
    assert "1.00 GB/s (fio 3.33)" in text
    lines = list(csv.DictReader(io.StringIO(str(exporters["csv"].render(data)))))
    for line, row in zip(lines, summary.rows, strict=True):
        assert (line["peer_tool"], line["peer_version"], float(line["peer_median"])) == ("fio", "3.33", 1e9)
        assert float(line["peer_ratio"]) == row.median / 1e9
    bare = csv.DictReader(io.StringIO(str(exporters["csv"].render(ReportData(make_summary(SMALL))))))
    assert {(line["peer_tool"], line["peer_ratio"]) for line in bare} == {("", "")}


def test_a_tools_name_is_never_markup() -> None:
    page = html.render(ReportData(with_peer(None, fio(1e9, tool=EVIL))))
    assert EVIL not in page
    assert "&lt;img src=x" in page
