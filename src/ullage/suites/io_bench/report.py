# SPDX-License-Identifier: Apache-2.0
"""What a report shows of an io_bench: six streams by size of record, each with its share of the peak."""

from collections.abc import Sequence
from typing import Final

from ullage.grouping import grouped, nested
from ullage.model.summary import Row
from ullage.quantity import DASH, format_bounds, format_quantity, format_share
from ullage.report.answers import AnswerRule
from ullage.report.contents import Cell, Content, Grid, Heading, Section, number_cell
from ullage.report.data import ReportData
from ullage.report.verdicts import headword
from ullage.suites.io_bench.suite import METRIC, ORDERS
from ullage.units import format_bytes


def tables(data: ReportData) -> Content | None:
    """Return a table for each target, or None for other suites and where nothing was measured."""
    rows = [row for row in data.rows_of("io_bench") if row.metric == METRIC]
    targets = grouped((row.target, row) for row in rows)
    grids = [_grid(target if len(targets) > 1 else "", some) for target, some in targets.items()]
    return Content(notes=_notes(rows), grids=grids) if rows else None


def _grid(title: str, rows: Sequence[Row]) -> Grid:
    records = nested(
        (row.count("block_bytes", 0), f"{row.params.get('order', ORDERS[0])} {row.access}", row) for row in rows
    )
    every = [f"{order} {access}" for order in ORDERS for access in ("write", "read")]
    streams = [stream for stream in every if any(stream in some for some in records.values())]
    lines = [
        [number_cell(format_bytes(record), sort=str(record)), *(_cell(some.get(stream)) for stream in streams)]
        for record, some in sorted(records.items())
    ]
    return Grid(title, [Heading(name, is_number=True) for name in ("record", *streams)], lines)


def _cell(row: Row | None) -> Cell:
    if row is None:
        return number_cell(DASH)
    interval = format_bounds(row)
    rate = format_quantity(row.median, row.unit)
    text = rate if row.share is None else f"{rate}, {format_share(row.share)}"
    hint = "; ".join(filter(None, [interval, headword(row), *row.reasons]))
    return number_cell(text, sort=repr(row.median), hint=hint)


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


SECTION: Final = Section(
    name="io_bench",
    title="Six streams",
    doc="One process transfers records of one file in three orders. The tables show the share of the "
    "peak that each reaches. Writes include an fsync at their end.",
    order=2,
    part="disk",
    build=tables,
)


ANSWER: Final = AnswerRule("io_bench", "Which share of its peak does the disk give one process?", "record-size")
