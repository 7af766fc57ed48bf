# SPDX-License-Identifier: Apache-2.0
"""The front page of a run made of several suites: what each part of the machine reaches, and what to change first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.grouping import grouped
from ullage.model.summary import Row, Summary
from ullage.quantity import DASH, format_known, format_quantity, percent, significant
from ullage.report.answers import change_first
from ullage.report.contents import LEAD, Content, Grid, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, texts_grid, value_text
from ullage.report.headlines import HOW_TO_DECLARE
from ullage.report.verdicts import classify, is_invalid
from ullage.units import format_time

_ORDER: Final = ("cores", "memory", "disk", "metadata", "messages", "network", "noise")


def build(data: ReportData) -> Content | None:
    """Return the front page, or None for a run of one suite."""
    summary = data.summary
    if not summary.parts:
        return None
    changes = [(one.suite, one.text) for one in change_first(summary.findings)]
    grids = [
        *grid_of("", _COLUMNS, _machine(summary), whole=True),
        *texts_grid("Change first", _CHANGE, changes, words=_CHANGE, whole=True),
        *what_was_run(summary),
    ]
    kinds = {line.row.ceiling.kind for line in _machine(summary) if line.row.ceiling is not None}
    notes: list[str] = []
    if "empirical" in kinds:
        how = HOW_TO_DECLARE[data.declared_by or "machine"]
        notes.append(
            f"An empirical ceiling is the best that was reached here. The hardware may do more. To declare one: {how}"
        )
    unknown = [part.suite for part in summary.parts if part.status == "not available"]
    if unknown:
        notes.append(f"Not measured: {', '.join(unknown)}; the last table says why.")
    return Content(notes=notes, grids=grids)


@dataclass(frozen=True)
class _Line:
    """A headline. ``part`` is empty where the line above has it."""

    part: str
    what: str
    row: Row


def _machine(summary: Summary) -> list[_Line]:
    """Return a line for each headline, the parts of the machine in a fixed order, unknown ones after them."""
    found = [headline for part in summary.parts for headline in part.headlines]
    by_part = grouped((headline.part, headline) for headline in found)
    return [
        _Line("" if place else part, headline.what, summary.rows[headline.row])
        for part in dict.fromkeys([*_ORDER, *by_part])
        for place, headline in enumerate(by_part.get(part, []))
    ]


def _ullage(line: _Line) -> tuple[str, float | None, str]:
    """Return what is not filled of the ceiling as text, what is as a bar, and a hint."""
    row = line.row
    if row.ceiling is not None and row.ceiling.kind == "empirical" and row.ceiling.value == row.median:
        return DASH, None, "it is the best that was reached here"
    if row.share is None:
        known = "no ceiling is known" if row.ceiling is None else f"no ceiling is known, only {row.ceiling.source}"
        return DASH, None, known
    if row.share > 1:
        return f"{significant(row.share, 3)} x its ceiling", 1.0, ""
    return f"{100 * (1 - row.share):.0f} %", row.share, f"{percent(row.share, 1)} of the ceiling"


def _source(line: _Line) -> str:
    return "" if line.row.ceiling is None else line.row.ceiling.source


def _ceiling(line: _Line) -> str:
    return DASH if line.row.ceiling is None else format_quantity(line.row.ceiling.value, line.row.unit)


def _reasons(line: _Line) -> str:
    return "; ".join(line.row.reasons)


_COLUMNS: Final[Sequence[Column[_Line]]] = (
    Column("part", lambda line: line.part, is_number=False, css="part"),
    Column("what", lambda line: line.what, is_number=False, css="what"),
    Column("reaches", lambda line: value_text(line.row), hint=_reasons),
    Column("interval or range", lambda line: format_known(line.row) or DASH),
    Column("ceiling", _ceiling, hint=_source),
    Column(
        "of which kind", lambda line: line.row.ceiling.kind if line.row.ceiling else DASH, is_number=False, hint=_source
    ),
    Column(
        "ullage", lambda line: _ullage(line)[0], hint=lambda line: _ullage(line)[2], bar=lambda line: _ullage(line)[1]
    ),
    Column(
        "verdict",
        lambda line: "INVALID" if is_invalid(line.row) else line.row.verdict,
        is_number=False,
        hint=_reasons,
        css="nowrap",
        dot=lambda line: classify(line.row).dot,
    ),
    Column("grade", lambda line: line.row.grade or DASH, is_number=False),
)
_CHANGE: Final = ("suite", "change first")


def what_was_run(summary: Summary) -> list[Grid]:
    """Return a table of how every suite of the run ended."""
    heads = ("suite", "ended", "took", "why")
    lines = [
        (part.suite, part.status, DASH if part.seconds is None else format_time(part.seconds), part.reason or DASH)
        for part in summary.parts
    ]
    return texts_grid("What was run", heads, lines, words={*heads} - {"took"}, whole=True)


SECTION: Final = Section(
    name="front",
    title="The machine at a glance",
    doc="Ullage is the empty part: 100 % less the share of its ceiling that a part reaches. You declare a ceiling, "
    "the hardware states it, or it is empirical. It belongs to the device, or to the cores that were used.",
    order=LEAD - 1,
    build=build,
)
