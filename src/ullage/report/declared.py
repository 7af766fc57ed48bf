# SPDX-License-Identifier: Apache-2.0
"""The tables of a suite as data: which columns, in which order, and in which table a phase stands.

A row says its parameters, unit and verdict by itself. So a column is a word ``NAME[:VIEW][=HEADING]``: ``NAME`` is
``target``, ``verdict``, a metric or a parameter, ``VIEW`` one of ``interval``, ``share``, ``bytes`` and ``volume``,
and ``HEADING`` has ``_`` for a blank. What a word cannot say is a ``Column``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ullage.analysis.metrics import load_metrics
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import DASH
from ullage.report.contents import Chart, Content, Figure, Section
from ullage.report.data import ReportData
from ullage.report.grids import (
    Column,
    PhaseLine,
    grid_of,
    interval_text,
    metric_column,
    of,
    param_text,
    phase_lines,
    share_text,
)
from ullage.report.verdicts import headword
from ullage.units import format_bytes, format_volume

_OF_ROWS: Final[Mapping[str, tuple[str, Callable[[Row], str]]]] = {
    "interval": ("interval", interval_text),
    "share": ("of the ceiling", share_text),
}
_OF_PARAMETERS: Final[Mapping[str, Callable[[int], str]]] = {"bytes": format_bytes, "volume": format_volume}
_COUNTED: Final = {"depth", "files", "particles", "ranks", "steps", "tests"}
"""Parameters whose values are numbers."""


@dataclass(frozen=True)
class Table:
    """Tables with ``columns``. Phases whose rows have the same ``title`` stand together, those without one nowhere."""

    columns: Sequence[Column[PhaseLine]]
    title: Callable[[Row], str | None]


def columns(*given: str | Column[PhaseLine]) -> list[Column[PhaseLine]]:
    """Return the columns of all words, and those given whole among them."""
    return [
        made
        for one in given
        for made in ([one] if isinstance(one, Column) else [_column(word) for word in one.split()])
    ]


def _column(word: str) -> Column[PhaseLine]:
    what, _, said = word.partition("=")
    name, _, view = what.partition(":")
    heading = said.replace("_", " ")
    if name == "verdict":
        return Column(heading or name, lambda line: headword(line.first), is_number=False)
    if name == "target":
        return Column(heading or name, lambda line: line.first.target, is_number=False)
    if view in _OF_ROWS:
        usual, show = _OF_ROWS[view]
        return Column(heading or usual, of(name, show))
    if view:
        return Column(heading, _size(name, _OF_PARAMETERS[view]))
    if name in load_metrics():
        return metric_column(heading, name)
    return Column(heading or name.replace("_", " "), param_text(name), is_number=name in _COUNTED)


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


def storage_section(suite: str, title: str, doc: str, build: Callable[[ReportData], Content | None]) -> Section:
    """Return the section of a suite that measures storage."""
    return Section(name=suite, title=title, doc=doc, order=2, part="disk", build=build, suite=suite)


def storage_chart(name: str, title: str, doc: str, build: Callable[[ReportData], list[Figure]]) -> Chart:
    """Return the chart of a suite that measures storage."""
    return Chart(name=name, title=title, doc=doc, order=3, part="disk", build=build)
