# SPDX-License-Identifier: Apache-2.0
"""A table from columns that each say how a line shows; columns in which no line has a value are left out."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ullage.grouping import nested
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.quantity import DASH, format_bounds, format_quantity, format_share, percent, significant
from ullage.report.contents import Cell, Grid, Heading, peer_ratio

LineT = TypeVar("LineT")
LineT_contra = TypeVar("LineT_contra", contravariant=True)


@dataclass(frozen=True)
class PhaseLine:
    """All metrics of one phase of one case."""

    rows: Mapping[str, Row]

    @property
    def first(self) -> Row:
        """A row of the phase: its parameters and target are those of all."""
        return next(iter(self.rows.values()))


def row_lines(rows: Iterable[Row]) -> list[PhaseLine]:
    """Return a line for each row: of a table that shows rows of one or of several metrics below each other."""
    return [PhaseLine({row.metric: row}) for row in rows]


def phase_lines(rows: Iterable[Row]) -> list[PhaseLine]:
    """Return a line for each phase of each case, in the order of ``rows``."""
    by_phase = nested(((row.case, str(row.params["access"])), row.metric, row) for row in rows)
    return [PhaseLine(of_phase) for of_phase in by_phase.values()]


@dataclass(frozen=True)
class MeasuredLine(PhaseLine):
    """A phase, and the repetitions that its rows count."""

    phases: Sequence[PhaseRecord]

    def gauges(self, name: str) -> list[float]:
        """Return the largest value of any thread or rank in each repetition that has it."""
        return [phase.gauges[name].most for phase in self.phases if name in phase.gauges]


@dataclass(frozen=True)
class Column(Generic[LineT_contra]):
    """Makes a column of a table from its lines.

    ``hint`` shows where a pointer rests; ``css`` is the class of its cells on the page. ``number``, where a column has
    one, is what the page sorts by. ``dot`` and ``bar``: as of ``Cell``.
    """

    heading: str
    text: Callable[[LineT_contra], str]
    is_number: bool = True
    hint: Callable[[LineT_contra], str] = lambda _line: ""
    css: str | Callable[[LineT_contra], str] = ""
    number: Callable[[LineT_contra], float | None] = lambda _line: None
    dot: Callable[[LineT_contra], str] = lambda _line: ""
    bar: Callable[[LineT_contra], float | None] = lambda _line: None

    def cell(self, line: LineT_contra) -> Cell:
        """Return the cell of a line."""
        text, value = self.text(line), self.number(line)
        sort = "" if value is None or repr(float(value)) == text else repr(float(value))
        css = self.css if isinstance(self.css, str) else self.css(line)
        return Cell(
            text, f"num {css}".strip() if self.is_number else css, sort, self.hint(line), self.dot(line), self.bar(line)
        )


def grid_of(title: str, columns: Sequence[Column[LineT]], lines: Sequence[LineT], *, whole: bool = False) -> list[Grid]:
    """Return one table; none without lines. ``whole``: keep the columns in which no line has a value."""
    if not lines:
        return []
    shown = [column for column in columns if whole or any(column.text(line) not in ("", DASH) for line in lines)]
    heads = [Heading(column.heading, is_number=column.is_number) for column in shown]
    return [Grid(title, heads, [[column.cell(line) for column in shown] for line in lines])]


def texts_grid(
    title: str, heads: Sequence[str], lines: Sequence[Sequence[str]], words: Container[str] = (), *, whole: bool = False
) -> list[Grid]:
    """Return one table of ready texts; none without lines. ``words``: heads of the columns that hold no numbers."""

    def text(index: int) -> Callable[[Sequence[str]], str]:
        return lambda line: line[index]

    columns = [Column(head, text(index), is_number=head not in words) for index, head in enumerate(heads)]
    return grid_of(title, columns, lines, whole=whole)


def time_text(seconds: float | None) -> str:
    """Format a time that no row has; a dash for None."""
    return DASH if seconds is None else format_quantity(seconds, "s")


def value_text(row: Row | None) -> str:
    """Format the median of a row; a dash without a row."""
    return DASH if row is None else format_quantity(row.median, row.unit)


def value_hint(row: Row | None) -> str:
    """Format the interval, flags and grade of a row; empty without a row."""
    if row is None:
        return ""
    interval = format_bounds(row)
    return "; ".join(filter(None, (interval, ", ".join(row.flag_codes), f"grade {row.grade}" if row.grade else "")))


def value_column(heading: str, row_of: Callable[[LineT], Row | None]) -> Column[LineT]:
    """Return a column with the median of a line's row and, where a pointer rests, how well it is known."""
    return Column(heading, lambda line: value_text(row_of(line)), hint=lambda line: value_hint(row_of(line)))


def metric_column(heading: str, metric: str) -> Column[PhaseLine]:
    """Make a ``value_column`` that shows the row of ``metric`` of each line."""
    return value_column(heading, lambda line: line.rows.get(metric))


def param_text(name: str) -> Callable[[PhaseLine], str]:
    """Return what shows the parameter ``name`` of a line."""
    return lambda line: str(line.first.params.get(name, DASH))


def peer_text(row: Row | None) -> str:
    """Format the peer's median; a dash without a peer."""
    return DASH if row is None or row.peer is None else format_quantity(row.peer.median, row.unit)


def peer_hint(row: Row | None) -> str:
    """Return which peer it is, with its version; empty without one."""
    return "" if row is None or row.peer is None else f"{row.peer.tool} {row.peer.version}"


def ceiling_text(row: Row | None) -> str:
    """Format the ceiling of a row, and say where it is the best of this run; a dash without one."""
    if row is None or row.ceiling is None:
        return DASH
    value = format_quantity(row.ceiling.value, row.unit)
    return f"{value}, best of this run" if row.is_beside_best else value


def ceiling_hint(row: Row | None) -> str:
    """Return the kind of the ceiling, who states it, when and why it bounds; empty without one."""
    if row is None or row.ceiling is None:
        return ""
    at = f", {row.ceiling.at[:16].replace('T', ' ')}" if row.ceiling.at else ""
    return f"{row.ceiling.kind}: {row.ceiling.source}{at}{f'. {row.ceiling.why}' if row.ceiling.why else ''}"


def share_text(row: Row | None) -> str:
    """Format the share of the ceiling that was reached; a dash without one."""
    return DASH if row is None else format_share(row.share)


def _peer_share(row: Row) -> float | None:
    """Return the peer's share of a ceiling that is a bound, else None; the ceiling of a time is the least it can be."""
    if row.peer is None or row.ceiling is None or row.share is None or row.peer.median <= 0:
        return None
    return row.peer.median / row.ceiling.value if row.better == "more" else row.ceiling.value / row.peer.median


def peer_share_text(row: Row | None) -> str:
    """Format the share of the ceiling that the peer reached; a dash without one."""
    return DASH if row is None else format_share(_peer_share(row))


def interval_text(row: Row | None) -> str:
    """Format the interval or range of a row; a dash without one."""
    if row is None:
        return DASH
    return format_bounds(row) or DASH


def ratio_text(row: Row | None) -> str:
    """Format the median of a row over the peer's; a dash without a peer."""
    ratio = None if row is None else peer_ratio(row)
    return DASH if ratio is None else significant(ratio)


def of(metric: str, show: Callable[[Row], str], without: str = DASH) -> Callable[[PhaseLine], str]:
    """Return a function that gives what ``show`` makes of a line's row of ``metric``; ``without`` where it has none."""
    return lambda line: without if (row := line.rows.get(metric)) is None else show(row)


def percent_text(row: Row) -> str:
    """Format the median of a row that measures a share, in percent."""
    return percent(row.median, 2)


def peers_of(rows: Iterable[Row]) -> list[str]:
    """Return every peer that has measured any of ``rows``, with its version: ``fio 3.33``."""
    return sorted({f"{row.peer.tool} {row.peer.version}" for row in rows if row.peer is not None})
