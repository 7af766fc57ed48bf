# SPDX-License-Identifier: Apache-2.0
"""The numbers of another program beside ours, cell by cell, as ``ullage compare`` puts them side by side."""

from typing import Final

from ullage.analysis.compare import Cell, Comparison, compare_summaries
from ullage.errors import UserError
from ullage.model.summary import Summary
from ullage.quantity import format_param, format_row, times
from ullage.report.comparison_text import counts_line, difference_texts, table
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import texts_grid

_OWN: Final = "this run"


def compared(summary: Summary) -> tuple[Comparison | None, list[str]]:
    """Return how the other program compares, where it does, with lines on it; no lines without such a program."""
    if not summary.beside:
        return None, []
    others = {name: Summary(suite="", run_id="", created="", rows=rows) for name, rows in summary.beside.items()}
    try:
        found = compare_summaries({_OWN: summary, **others}, "result", _OWN)
    except UserError as error:
        return None, [f"{error.what[:1].upper()}{error.what[1:]}."]
    counts = [f"{counts_line(found, name)}." for name in others]
    return found, [*counts, *difference_texts(found)]


def other_text(cell: Cell) -> str:
    """Write the number of the other program, and how it compares with ours."""
    return f"{format_row(cell.other)} in {cell.other_name}, {times(cell.ratio)} of ours ({cell.outcome})"


def cell_text(cell: Cell) -> str:
    """Write both numbers of a cell, with its setting."""
    setting = [cell.metric, *(format_param(key, value) for key, value in cell.setting)]
    return f"{', '.join(setting)}: {format_row(cell.base)} here, {other_text(cell)}"


def _build(data: ReportData) -> Content | None:
    found, lines = compared(data.summary)
    if not lines:
        return None
    heads, rows = ([], []) if found is None else table(found, found.cells)
    return Content(notes=lines, grids=texts_grid("", heads, rows, words=heads))


BESIDE: Final = Section(
    name="beside",
    title="Beside another program",
    doc="Each number of the other program stands beside ours of the same setting. The ratio is its number divided by "
    "ours.",
    order=3,
    build=_build,
)
SECTIONS: Final = (BESIDE,)
