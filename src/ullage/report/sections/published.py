# SPDX-License-Identifier: Apache-2.0
"""The tables of an imported course report with the columns they were published with, and what in them cannot be."""

from typing import Final

from ullage.grouping import grouped
from ullage.model.flags import interval_below
from ullage.model.summary import Row
from ullage.quantity import DASH, format_param, format_quantity, format_share
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.grids import peer_share_text
from ullage.report.table import Cell, number_cell

_TABLE: Final = "table"
_NO_FLAG: Final = interval_below()
_HEADS: Final = (
    Heading("workload"),
    Heading("threads", is_number=True),
    Heading("block", is_number=True),
    Heading("measured", is_number=True),
    Heading("peer", is_number=True),
    Heading("ceiling", is_number=True),
    Heading("efficiency", is_number=True),
    Heading("peer's efficiency", is_number=True),
    Heading("cannot be"),
)


def build(data: ReportData) -> Content | None:
    """Return a grid for each table, or None for results that came without."""
    tables = grouped(
        (str(row.params[_TABLE]), row) for row in data.summary.rows if _TABLE in row.params and "workload" in row.params
    )
    return Content(grids=[_grid(name, rows) for name, rows in tables.items()]) if tables else None


def _grid(name: str, rows: list[Row]) -> Grid:
    tools = sorted({row.peer.tool for row in rows if row.peer is not None})
    title = f"{name}, beside {' and '.join(tools)}" if tools else name
    has_block = any("block_bytes" in row.params for row in rows)
    keep = [index for index, head in enumerate(_HEADS) if has_block or head.heading != "block"]
    lines = [_line(row) for row in rows]
    return Grid(title, [_HEADS[index] for index in keep], [[line[index] for index in keep] for line in lines])


def _line(row: Row) -> list[Cell]:
    peer, ceiling, params = row.peer, row.ceiling, row.params
    block = format_param("block_bytes", params["block_bytes"]) if "block_bytes" in params else DASH
    flags = [code for code in row.flag_codes if code != _NO_FLAG]
    return [
        Cell(str(params["workload"])),
        number_cell(str(params.get("threads", ""))),
        number_cell(block),
        number_cell(format_quantity(row.median, row.unit)),
        number_cell(DASH if peer is None else format_quantity(peer.median, row.unit)),
        number_cell(DASH if ceiling is None else format_quantity(ceiling.value, row.unit)),
        number_cell(format_share(row.share)),
        number_cell(peer_share_text(row)),
        Cell(", ".join(flags) or DASH, hint="; ".join(row.reasons)),
    ]


SECTION: Final = Section(
    name="published",
    title="The published tables",
    doc="The numbers are as published, with three corrections. Every row has the ceiling of the device "
    "itself, whatever the threads. The efficiency of a time is its least possible value divided by "
    "the measured one. The last column names rows that cannot be right.",
    order=1,
    build=build,
)
SECTIONS: Final = (SECTION,)
