# SPDX-License-Identifier: Apache-2.0
"""The section on where the rest goes: a line for each ladder, and what kind of ceiling each part has, by whom, when."""

from typing import Final

from ullage.quantity import DASH, format_quantity
from ullage.report.contents import LEAD, Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import texts_grid
from ullage.report.ladders import explained_parts, in_one_line, told_ceiling

_HEADS: Final = ("part", "ceiling", "kind", "source", "when", "why it bounds this")


def build(data: ReportData) -> Content | None:
    """Return the lines and the table; None without a ceiling.

    A run of one suite without a rung has none either: its tables show its ceilings.
    """
    parts = [one for one in explained_parts(data.summary) if one.vessel.share is not None and one.row.ceiling]
    if not parts or not (data.summary.parts or any(one.ladder and one.ladder.rungs for one in parts)):
        return None
    told = [
        (
            one.vessel.part,
            format_quantity(one.row.ceiling.value, one.row.unit),
            *told_ceiling(one.row, data.summary.created),
        )
        for one in parts
        if one.row.ceiling is not None
    ]
    lines = [tuple(text or DASH for text in line) for line in told]
    grids = texts_grid("Ceilings", _HEADS, lines, words=set(_HEADS) - {"ceiling"})
    return Content(
        notes=[in_one_line(one.ladder, one.row) for one in parts if one.ladder and one.ladder.rungs], grids=grids
    )


SECTION: Final = Section(
    name="ladders",
    title="Where the rest goes",
    doc="Each rung is the same work with one thing changed. Red costs are proved, grey ones are not. What all rungs "
    "leave, multiplied, is the share of the "
    "ceiling. `ullage explain RESULT` says what to do about each.",
    order=LEAD,
    build=build,
)
