# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a run of all kernels: each class of patterns with its rate and its share of the ceiling."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import DASH, format_share
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, ceiling_text, grid_of, value_column
from ullage.report.verdicts import headword
from ullage.suites.apps.classes import class_of, direction, is_write, rates_of
from ullage.suites.apps.options import SMALL

_SUITE: Final = "apps"


def tables(data: ReportData) -> Content | None:
    """Return a table of the classes of each target, or None for other suites and where nothing was measured."""
    if data.summary.suite != _SUITE:
        return None
    rates = rates_of(data.summary.rows, SMALL)
    if not rates:
        return None
    grids = [
        grid
        for target in dict.fromkeys(row.target for row in rates)
        for writes in (True, False)
        for grid in grid_of(
            f"{target}: {'writes' if writes else 'reads'}",
            _COLUMNS,
            sorted((row for row in rates if row.target == target and is_write(row) == writes), key=_order),
        )
    ]
    return Content(notes=[*_missing(data), *_notes(rates)], grids=grids)


def _order(row: Row) -> tuple[str, float]:
    return row.verdict, -row.median


def _missing(data: ReportData) -> list[str]:
    return [
        f"Not available: {part.suite}: {part.reason}." for part in data.summary.parts if part.status == "not available"
    ]


def _notes(rates: list[Row]) -> list[str]:
    notes = [
        "Each table is sorted by the verdict and then by the median. Rates of different verdicts are not compared."
    ]
    if all(row.share is None for row in rates):
        notes.append(
            "No ceiling is known but the best of this run. State one with --ceiling TARGET:write=RATE and --ceiling "
            "TARGET:read=RATE."
        )
    return notes


def _share(row: Row) -> str:
    return DASH if row.share is None else format_share(row.share)


def _itself(row: Row) -> Row:
    return row


_COLUMNS: Final[Sequence[Column[Row]]] = (
    Column[Row]("pattern", class_of, is_number=False),
    Column[Row]("kernel", lambda row: row.suite, is_number=False),
    Column[Row]("phase", lambda row: str(row.params.get("access", direction(row))), is_number=False),
    Column[Row]("ranks", lambda row: str(row.params.get("ranks", DASH))),
    value_column("rate", _itself),
    Column[Row]("ceiling", ceiling_text),
    Column[Row]("share", _share),
    Column[Row]("verdict", headword, is_number=False),
)

SECTIONS: Final = (
    Section(
        name="apps",
        title="Classes of access patterns",
        doc="Rates of all ranks together, for each class of patterns that the kernels measured. A share is of the "
        "ceiling of the target.",
        order=1,
        part="disk",
        build=tables,
    ),
)
