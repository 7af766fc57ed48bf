# SPDX-License-Identifier: Apache-2.0
"""What a report shows of flash: each file with its parts, and which rank owns which bytes of a file."""

import itertools
from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import rounded
from ullage.report.answers import AnswerRule
from ullage.report.contents import Figure
from ullage.report.data import ReportData
from ullage.report.declared import Table, columns, storage_chart, storage_section, tables_of
from ullage.report.grids import Column
from ullage.report.headlines import storage_rule
from ullage.report.plots import nominal, plot, quantity_axis
from ullage.report.vega import Spec, ordered_colors, tooltip
from ullage.suites.flash.suite import HEADER_BYTES, block_of_array_bytes, blocks_of
from ullage.units import format_bytes

_SUITE: Final = "flash"
_MOST_RANKS: Final = 8
_DRAWN: Final = 4
"""Arrays in the picture: the rest repeats them."""


_TITLES: Final = {"write": "Write the file", "read": "Restart: read the file again"}


def _place(row: Row) -> tuple[object, ...]:
    words = (row.word("file"), row.count("cells"), row.word("format"), row.word("transfers"))
    return row.access != "write", row.target, row.ranks, *words


tables: Final = tables_of(
    _SUITE,
    [
        Table(
            columns(
                "target file",
                Column("cells", lambda line: f"{line.first.params['cells']}^3"),
                "format transfers ranks bandwidth=rate flash_bandwidth=rate_as_the_original's phase_time=wall",
                "open_time=header metadata_time=block_data unknowns_time=unknowns sync_time=sync close_time=close",
                "verdict",
            ),
            lambda row: _TITLES.get(row.access),
        )
    ],
    _place,
)


def _ownership(data: ReportData) -> list[Figure]:
    """Return a picture of the first unknowns of a checkpoint: each rank has one run of bytes in each array."""
    rows = sorted(data.rows_of(_SUITE), key=_place)
    first = next((row for row in rows if row.params["file"] == "checkpoint"), rows[0] if rows else None)
    if first is None:
        return []
    file, cells, ranks = first.word("file"), first.count("cells"), first.ranks
    runs = runs_of(ranks, first.count("blocks"), block_of_array_bytes(file, cells))[:_MOST_RANKS]
    caption = f"{file}, {cells}^3 cells, {ranks} ranks{'' if len(runs) == ranks else f', the first {len(runs)}'}"
    return [Figure("Who owns which bytes of an array", caption, _spec(runs))]


def runs_of(ranks: int, given: int, row_bytes: int) -> list[tuple[int, int]]:
    """Return the bytes of one array that each rank owns, as begin and end, for blocks of ``row_bytes``."""
    ends = [*itertools.accumulate(blocks_of(rank, given) * row_bytes for rank in range(ranks))]
    return [*itertools.pairwise([0, *ends])]


def _spec(runs: Sequence[tuple[int, int]]) -> Spec:
    names = [f"rank {rank}" for rank in range(len(runs))]
    arrays = [f"unknown {number}" for number in range(1, _DRAWN + 1)]
    values = [
        {
            "array": array,
            "x": rounded(begin / 1e6),
            "x2": rounded(end / 1e6),
            "rank": names[rank],
            "text": format_bytes(end - begin),
        }
        for array in arrays
        for rank, (begin, end) in enumerate(runs)
    ]
    encoding = {
        "y": {"field": "array", "type": "nominal", "title": None, "sort": arrays},
        "x": quantity_axis("x", "offset in the array (MB)"),
        "x2": {"field": "x2"},
        "color": nominal("rank", names, ordered_colors(len(names)), {"orient": "top", "columns": len(names)}),
        "tooltip": tooltip("array rank=owner text=bytes"),
    }
    return plot(470, 110, values, {"type": "bar", "height": 14}, encoding)


SECTION: Final = storage_section(
    _SUITE,
    "Files of a code with adaptive blocks",
    "Header is the time to make or open the file and define its arrays. Block data are 6 arrays that describe "
    "the blocks, unknowns the arrays with their values. Times are of the slowest rank. The file has "
    f"{HEADER_BYTES} bytes of header in the raw format.",
    tables,
)
CHART: Final = storage_chart(
    "flash_ownership",
    "Which rank owns which bytes of a block array",
    "Every array of the file is cut in the order of the ranks: each call moves one run of bytes.",
    _ownership,
)


HEADLINE: Final = storage_rule("{target}: flash {file} file {done}, {format}, {ranks}", "file", "cells", "format")
ANSWER: Final = AnswerRule(
    "flash", "Which way of writing is faster for a code with adaptive blocks?", "flash-access flash-format"
)
