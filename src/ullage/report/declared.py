# SPDX-License-Identifier: Apache-2.0
"""The tables of a suite as data: which columns, in which order, and in which table a phase stands.

A row says its parameters, unit and verdict by itself. So a column is a word ``NAME[:VIEW][=HEADING]``: ``NAME`` is
``target``, ``verdict``, ``grade``, ``flags``, a metric or a parameter, ``VIEW`` a key of the two tables below, and
``HEADING`` has ``_`` for a blank. ``row`` is the only row of a line, whatever its metric. What a word cannot say is a
``Column``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, overload

from ullage.analysis.metrics import load_metrics
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import DASH, format_compact, format_row, significant
from ullage.report.contents import Chart, Content, Figure, Section
from ullage.report.data import ReportData
from ullage.report.grids import (
    Column,
    PhaseLine,
    ceiling_hint,
    ceiling_text,
    grid_of,
    interval_text,
    of,
    param_text,
    peer_hint,
    peer_share_text,
    peer_text,
    percent_text,
    phase_lines,
    ratio_text,
    share_text,
    value_hint,
    value_text,
)
from ullage.report.plots import HeatMap, shade_positions
from ullage.report.vega import Spec, tooltip
from ullage.report.verdicts import classify, headword
from ullage.report.view import best_of
from ullage.units import format_bytes, format_volume

PhaseLineT = TypeVar("PhaseLineT", bound=PhaseLine)
_OF_ROWS: Final[Mapping[str, tuple[str, Callable[[Row], str], Callable[[Row], str] | None]]] = {
    "value": ("", value_text, None),
    "plain": ("", lambda row: significant(row.median), None),
    "percent": ("", percent_text, None),
    "interval": ("interval or range", interval_text, None),
    "share": ("of the ceiling", share_text, None),
    "ceiling": ("ceiling", ceiling_text, ceiling_hint),
    "peer": ("peer", peer_text, peer_hint),
    "peer_share": ("peer's efficiency", peer_share_text, None),
    "ratio": ("ratio to peer", ratio_text, None),
}
"""Usual heading, text and hint. A value has no hint where its interval stands beside it; a metric alone has one."""
_OF_PARAMETERS: Final[Mapping[str, Callable[[int], str]]] = {"bytes": format_bytes, "volume": format_volume}
_OF_THE_FIRST: Final[Mapping[str, Callable[[Row], str]]] = {
    "target": lambda row: row.target,
    "verdict": headword,
    "grade": lambda row: row.grade or DASH,
    "flags": lambda row: ", ".join(row.flag_codes) or DASH,
}
_COUNTED: Final = {"chains", "depth", "files", "n", "particles", "ranks", "steps", "streams", "tests", "threads"}
"""Parameters whose values are numbers."""


@dataclass(frozen=True)
class Table:
    """Tables with ``columns``. Phases whose rows have the same ``title`` stand together, those without one nowhere."""

    columns: Sequence[Column[PhaseLine]]
    title: Callable[[Row], str | None]


@overload
def columns(*given: str | Column[PhaseLine]) -> list[Column[PhaseLine]]: ...


@overload
def columns(*given: str | Column[PhaseLineT]) -> list[Column[PhaseLineT]]: ...


def columns(*given: str | Column[PhaseLineT]) -> list[Column[PhaseLineT]]:
    """Return the columns of all words, and those given whole among them."""
    words = [one.split() if isinstance(one, str) else [one] for one in given]
    return [_column(one) if isinstance(one, str) else one for some in words for one in some]


def _column(word: str) -> Column[PhaseLine]:
    what, _, said = word.partition("=")
    name, _, view = what.partition(":")
    heading = said.replace("_", " ")
    if name in _OF_THE_FIRST:
        show = _OF_THE_FIRST[name]
        return Column(heading or name, lambda line: show(line.first), is_number=False)
    if view in _OF_ROWS:
        usual, text, hint = _OF_ROWS[view]
        return Column(heading or usual, _of(name, text, DASH), hint=_of(name, hint or (lambda _row: ""), ""))
    if view:
        return Column(heading, _size(name, _OF_PARAMETERS[view]))
    if name == "row" or name in load_metrics():
        return Column(heading, _of(name, value_text, DASH), hint=_of(name, value_hint, ""))
    return Column(heading or name.replace("_", " "), param_text(name), is_number=name in _COUNTED)


def _of(name: str, show: Callable[[Row], str], without: str) -> Callable[[PhaseLine], str]:
    return (lambda line: show(line.first)) if name == "row" else of(name, show, without)


def _size(name: str, show: Callable[[int], str]) -> Callable[[PhaseLine], str]:
    return lambda line: DASH if (value := line.first.params.get(name)) is None else show(int(value))


def no_notes(_rows: Sequence[Row]) -> list[str]:
    """Say nothing above the tables."""
    return []


def tables_of(
    suite: str,
    tables: Iterable[Table],
    order: Callable[[Row], Any],
    notes: Callable[[Sequence[Row]], Sequence[str]] = no_notes,
    *,
    only: Callable[[PhaseLine], bool] = lambda _line: True,
) -> Callable[[ReportData], Content | None]:
    """Return what builds the tables of a suite: its phases in an ``order``, since cases were measured in a random one.

    ``only``: phases that are shown. ``notes`` gets a row of each of them.
    """
    declared = list(tables)

    def build(data: ReportData) -> Content | None:
        shown = filter(only, phase_lines(data.rows_of(suite)))
        lines = sorted(shown, key=lambda line: order(line.first))
        if not lines:
            return None
        grids = [
            grid
            for table in declared
            for title, some in grouped((table.title(line.first), line) for line in lines).items()
            if title is not None
            for grid in grid_of(title, table.columns, some)
        ]
        return Content(notes=notes([line.first for line in lines]), grids=grids)

    return build


def row_map(
    found: HeatMap,
    rows: Sequence[Row],
    column: Callable[[Row], str],
    line: Callable[[Row], str],
    what: Callable[[Row], str],
    more: Sequence[Spec] = (),
) -> Spec:
    """Draw a cell for each of ``rows``, shaded by its median, the best one framed.

    ``what`` names a cell where a pointer rests on it; ``more`` layers are drawn over the cells.
    """
    best, shades = best_of(rows), shade_positions([row.median for row in rows])
    cells = [
        {
            "column": column(row),
            "line": line(row),
            "label": format_compact(row.median, row.unit),
            "position": round(shade, 3),
            "best": row is best,
            "hollow": not (measured := classify(row)).filled,
            "measured": measured.label,
            "what": what(row),
            "text": format_row(row),
            "verdict": row.verdict,
            "flags": ", ".join(row.flag_codes),
        }
        for row, shade in zip(rows, shades, strict=True)
    ]
    return found.spec(cells, tooltip("what=cell text=median verdict flags"), more=more)


@dataclass(frozen=True)
class PartOfReport:
    """Where the sections and charts of a suite stand in a report: with which part of the machine, and in what order."""

    suite: str
    part: str
    order: int

    def section(self, title: str, doc: str, build: Callable[[ReportData], Content | None]) -> Section:
        """Return the section that shows the rows of the suite."""
        return Section(self.suite, title, doc, self.order, build, self.suite, self.part)

    def chart(
        self, name: str, title: str, doc: str, build: Callable[[ReportData], list[Figure]], order: int | None = None
    ) -> Chart:
        """Return a chart; ``order``: its place where that is not the one of the section."""
        return Chart(name, title, doc, self.order if order is None else order, build, self.part)


def storage_section(suite: str, title: str, doc: str, build: Callable[[ReportData], Content | None]) -> Section:
    """Return the section of a suite that measures storage."""
    return PartOfReport(suite, "disk", 2).section(title, doc, build)


def storage_chart(name: str, title: str, doc: str, build: Callable[[ReportData], list[Figure]]) -> Chart:
    """Return the chart of a suite that measures storage."""
    return Chart(name, title, doc, 3, build, "disk")
