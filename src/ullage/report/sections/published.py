# SPDX-License-Identifier: Apache-2.0
"""The tables of an imported course report with the columns they were published with, and what in them cannot be."""

from collections.abc import Sequence
from typing import Final

from ullage.grouping import grouped
from ullage.model.flags import interval_below
from ullage.model.summary import Row
from ullage.quantity import DASH, format_param
from ullage.report.contents import Content, Grid, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, ceiling_text, grid_of, peer_share_text, peer_text, share_text, value_text

_TABLE: Final = "table"
_BLOCK: Final = "block_bytes"
_NO_FLAG: Final = interval_below()


def build(data: ReportData) -> Content | None:
    """Return a grid for each table, or None for results that came without."""
    tables = grouped(
        (str(row.params[_TABLE]), row) for row in data.summary.rows if _TABLE in row.params and "workload" in row.params
    )
    return Content(grids=[grid for name, rows in tables.items() for grid in _grid(name, rows)]) if tables else None


def _grid(name: str, rows: list[Row]) -> list[Grid]:
    tools = sorted({row.peer.tool for row in rows if row.peer is not None})
    title = f"{name}, beside {' and '.join(tools)}" if tools else name
    has_block = any(_BLOCK in row.params for row in rows)
    return grid_of(title, [one for one in _COLUMNS if has_block or one.heading != "block"], rows, whole=True)


def _block(row: Row) -> str:
    return format_param(_BLOCK, row.params[_BLOCK]) if _BLOCK in row.params else DASH


def _flags(row: Row) -> str:
    return ", ".join(code for code in row.flag_codes if code != _NO_FLAG) or DASH


_COLUMNS: Final[Sequence[Column[Row]]] = (
    Column("workload", lambda row: str(row.params["workload"]), is_number=False),
    Column("threads", lambda row: str(row.params.get("threads", ""))),
    Column("block", _block),
    Column("measured", value_text),
    Column("peer", peer_text),
    Column("ceiling", ceiling_text),
    Column("efficiency", share_text),
    Column("peer's efficiency", peer_share_text),
    Column("cannot be", _flags, is_number=False, hint=lambda row: "; ".join(row.reasons)),
)
SECTIONS: Final = (
    Section(
        name="published",
        title="The published tables",
        doc="The numbers are as published, with three corrections. Every row has the ceiling of the device "
        "itself, whatever the threads. The efficiency of a time is its least possible value divided by "
        "the measured one. The last column names rows that cannot be right.",
        order=1,
        build=build,
    ),
)
