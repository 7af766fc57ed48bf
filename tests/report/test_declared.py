# SPDX-License-Identifier: Apache-2.0
"""Columns as words: which part of a row each shows, how it is headed, and what shows where a pointer rests."""

import pytest

from support.make_records import plain_row
from ullage.analysis.metrics import load_metrics, metric
from ullage.model.record import PhaseRecord
from ullage.model.summary import Ceiling, Peer
from ullage.quantity import DASH
from ullage.report.declared import PartOfReport, columns, row_map
from ullage.report.grids import Column, PhaseLine, row_lines
from ullage.report.plots import HeatMap

ROW = plain_row(
    [2e9] * 6,
    {"ranks": 4, "block_bytes": 4096, "layout": "files"},
    low=1.9e9,
    high=2.1e9,
    ceiling=Ceiling(value=4e9, kind="declared", source="datasheet"),
    peer=Peer(tool="fio", version="3.33", median=1e9),
)


def shown(words: str) -> list[tuple[str, str, str]]:
    """The heading, text and hint of each word of one row."""
    (line,) = row_lines([ROW])
    return [(column.heading, column.text(line), column.hint(line)) for column in columns(words)]


@pytest.mark.parametrize(
    ("word", "heading", "text", "hint"),
    [
        ("target", "target", "disk", ""),
        ("grade", "grade", "A", ""),
        ("flags", "flags", DASH, ""),
        ("ranks=processes", "processes", "4", ""),
        ("block_bytes:bytes=block", "block", "4K", ""),
        ("bandwidth:value=rate", "rate", "2.00 GB/s", ""),
        ("bandwidth=rate", "rate", "2.00 GB/s", "[1.90, 2.10]; grade A"),
        ("row=a_rank", "a rank", "2.00 GB/s", "[1.90, 2.10]; grade A"),
        ("row:peer=fio", "fio", "1.00 GB/s", "fio 3.33"),
        ("row:ceiling", "ceiling", "4.00 GB/s", "declared: datasheet"),
        ("row:share", "of the ceiling", "50 %", ""),
        ("row:peer_share", "peer's efficiency", "25 %", ""),
        ("row:ratio=to_peer", "to peer", "2.00", ""),
        ("sync_time:value=sync", "sync", DASH, ""),
    ],
)
def test_a_word_is_a_column(word: str, heading: str, text: str, hint: str) -> None:
    assert shown(word) == [(heading, text, hint)]


def test_a_column_given_whole_stands_among_the_words() -> None:
    own = Column[PhaseLine]("own", lambda line: line.first.word("layout"))
    assert [column.heading for column in columns("ranks", own, "target verdict")] == [
        "ranks",
        "own",
        "target",
        "verdict",
    ]
    assert [column.is_number for column in columns("ranks layout target")] == [True, False, False]


def test_a_row_reads_its_parameters_by_type() -> None:
    assert (ROW.count("ranks"), ROW.count("nodes", 1), ROW.word("layout"), ROW.word("order")) == (4, 1, "files", "")


def test_a_metric_is_a_function_with_its_sentence() -> None:
    @metric("B/s", "more")
    def some_rate(_phase: PhaseRecord) -> float | None:
        """Bytes of all ranks over the time of the
        slowest.

        None where nothing moved.
        """

    assert (some_rate.name, some_rate.unit, some_rate.doc) == (
        "some_rate",
        "B/s",
        "bytes of all ranks over the time of the slowest",
    )
    assert load_metrics()["call_bandwidth"].is_rate_of_bytes


def test_a_map_has_a_cell_for_each_row_and_frames_the_best() -> None:
    faster = ROW.model_copy(update={"median": 3e9, "params": {**ROW.params, "ranks": 8}})
    found = HeatMap(
        *(["4", "8"], ["files"], "ranks", "layout"), width=100, most_with_text=5, least_step=10, text_height=20
    )
    spec = row_map(
        found,
        [ROW, faster],
        lambda row: str(row.ranks),
        lambda row: row.word("layout"),
        lambda row: f"{row.ranks} ranks",
    )
    cells = spec["data"]["values"]
    assert [(cell["what"], cell["column"], cell["line"], cell["best"]) for cell in cells] == [
        ("4 ranks", "4", "files", False),
        ("8 ranks", "8", "files", True),
    ]
    assert cells[0]["position"] < cells[1]["position"]
    assert cells[1]["label"] == "3.00G"


def test_sections_and_charts_of_a_suite_stand_with_its_part_of_the_machine() -> None:
    part = PartOfReport("memory", "memory", 3)
    section = part.section("Memory", "How to read it.", lambda _data: None)
    charts = [
        part.chart(name, "A chart", "How to read it.", lambda _data: [], order)
        for name, order in {"a": None, "b": 4}.items()
    ]
    assert (section.name, section.suite, section.part, section.order) == ("memory", "memory", "memory", 3)
    assert [(chart.name, chart.part, chart.order) for chart in charts] == [("a", "memory", 3), ("b", "memory", 4)]
