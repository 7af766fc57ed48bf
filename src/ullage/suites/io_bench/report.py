# SPDX-License-Identifier: Apache-2.0
"""What a report shows of an io_bench: six streams by size of record, each with its share of the peak."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import DASH, format_interval, format_quantity, format_share, scale_for
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.table import Cell, number_cell
from ullage.report.verdicts import headword
from ullage.units import format_bytes

_SUITE: Final = "io_bench"
_METRIC: Final = "bandwidth"
_STREAMS: Final = tuple(
    (order, access) for order in ("sequential", "random", "backward") for access in ("write", "read")
)


def tables(data: ReportData) -> Content | None:
    """Return a table for each target, or None for other suites and where nothing was measured."""
    rows = [row for row in data.rows_of(_SUITE) if row.metric == _METRIC]
    if not rows:
        return None
    targets = list(dict.fromkeys(row.target for row in rows))
    several = len(targets) > 1
    grids = [_grid(target if several else "", [row for row in rows if row.target == target]) for target in targets]
    return Content(notes=_notes(rows), grids=grids)


def _grid(title: str, rows: Sequence[Row]) -> Grid:
    cells = {(_record(row), *_stream(row)): row for row in rows}
    streams = [stream for stream in _STREAMS if any(_stream(row) == stream for row in rows)]
    names = ["record", *(f"{order} {access}" for order, access in streams)]
    lines = [
        [number_cell(format_bytes(record), sort=str(record)), *(_cell(cells.get((record, *one))) for one in streams)]
        for record in sorted({_record(row) for row in rows})
    ]
    return Grid(title, [Heading(name, is_number=True) for name in names], lines)


def _cell(row: Row | None) -> Cell:
    """Show the rate, and its share of the peak where one is known."""
    if row is None:
        return number_cell(DASH)
    interval = format_interval(row.low, row.high, scale_for([row.median], row.unit))
    rate = format_quantity(row.median, row.unit)
    text = rate if row.share is None else f"{rate}, {format_share(row.share)}"
    return number_cell(
        text, sort=repr(row.median), hint="; ".join(filter(None, [interval, headword(row), *row.reasons]))
    )


def _record(row: Row) -> int:
    return row.count("block_bytes", 0)


def _stream(row: Row) -> tuple[str, str]:
    return str(row.params.get("order", "sequential")), row.access


def _notes(rows: Sequence[Row]) -> list[str]:
    peaks = {
        (row.target, row.access, row.ceiling.kind, row.ceiling.source): row.ceiling.value
        for row in rows
        if row.ceiling is not None
    }
    notes = [
        f"The peak of {target} {access}s is {format_quantity(value, 'B/s')} ({kind}: {source})."
        for (target, access, kind, source), value in peaks.items()
    ]
    if any(kind == "empirical" for _, _, kind, _ in peaks):
        notes.append("An empirical peak is the best that this run reached. State that of the device with --ceiling.")
    return notes or ["No peak is known. State one with --ceiling."]


SECTIONS: Final = (
    Section(
        name="io_bench",
        title="Six streams",
        doc="One process transfers records of one file in three orders. The tables show the share of the "
        "peak that each reaches. Writes include an fsync at their end.",
        order=2,
        part="disk",
        build=tables,
    ),
)

# -- the answer of the suite -------------------------------------------------------------------------------------------

ANSWERS: Final = (AnswerRule("io_bench", "Which share of its peak does the disk give one process?", ("record-size",)),)
