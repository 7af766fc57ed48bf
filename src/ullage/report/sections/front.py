# SPDX-License-Identifier: Apache-2.0
"""The front page of a run made of several suites: what each part of the machine reaches, and what to change first."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Finding, Headline, Part, Row, Summary
from ullage.quantity import DASH, format_known, format_quantity, percent, significant
from ullage.report.contents import LEAD, Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.headlines import Declaring
from ullage.report.table import Cell, number_cell
from ullage.report.verdicts import classify, is_invalid
from ullage.units import format_time

_ORDER: Final = ("cores", "memory", "disk", "metadata", "messages", "network", "noise")
_COLUMNS: Final = (
    Heading("part"),
    Heading("what"),
    Heading("reaches", is_number=True),
    Heading("interval", is_number=True),
    Heading("ceiling", is_number=True),
    Heading("of which kind"),
    Heading("ullage", is_number=True),
    Heading("verdict"),
    Heading("grade"),
)
_CHANGE_COLUMNS: Final = (Heading("suite"), Heading("change first"))
_SUITE_COLUMNS: Final = (Heading("suite"), Heading("ended"), Heading("took", is_number=True), Heading("why"))
# What is wrong goes first, then what to do, then what holds a number back; a mere best or verdict last.
_SEVERITIES: Final = ("warning", "advice", "info")
_LIMITS: Final = ("io500-score", "queue-depth", "scaling", "drop", "sensitivity")
# Whether a score counts is said beside it, and is no part of the machine.
_OF_SCORES: Final = ("io500-invalid",)


def build(data: ReportData) -> Content | None:
    """Return the front page, or None for a run of one suite."""
    summary = data.summary
    if not summary.parts:
        return None
    grids = [Grid("", _COLUMNS, _machine(summary)), *_changes(summary), what_was_run(summary)]
    return Content(notes=_notes(summary, data.declared_by), grids=[grid for grid in grids if grid.rows])


def _machine(summary: Summary) -> list[list[Cell]]:
    """Return a line for each headline, the parts of the machine in a fixed order, unknown ones after them."""
    found = [headline for part in summary.parts for headline in part.headlines]
    parts = dict.fromkeys([*_ORDER, *(headline.part for headline in found)])
    lines: list[list[Cell]] = []
    for part in parts:
        of_part = [headline for headline in found if headline.part == part]
        lines += [_line(headline, summary.rows[headline.row], is_first=not i) for i, headline in enumerate(of_part)]
    return lines


def _line(headline: Headline, row: Row, *, is_first: bool) -> list[Cell]:
    verdict, ceiling = classify(row), row.ceiling
    hint = "" if ceiling is None else ceiling.source
    return [
        Cell(headline.part if is_first else "", css="part"),
        Cell(headline.what, css="what"),
        number_cell(format_quantity(row.median, row.unit), hint="; ".join(row.reasons)),
        number_cell(format_known(row) or DASH),
        number_cell(DASH if ceiling is None else format_quantity(ceiling.value, row.unit), hint=hint),
        Cell(DASH if ceiling is None else ceiling.kind, hint=hint),
        _ullage(row),
        Cell("INVALID" if is_invalid(row) else row.verdict, "nowrap", dot=verdict.dot, hint="; ".join(row.reasons)),
        Cell(row.grade or DASH),
    ]


def _ullage(row: Row) -> Cell:
    """Return what is not filled of the ceiling; the bar is what is."""
    if row.ceiling is not None and row.ceiling.kind == "empirical" and row.ceiling.value == row.median:
        return number_cell(DASH, hint="it is the best that was reached here")
    if row.share is None:
        known = "no ceiling is known" if row.ceiling is None else f"no ceiling is known, only {row.ceiling.source}"
        return number_cell(DASH, hint=known)
    if row.share > 1:
        return number_cell(f"{significant(row.share, 3)} x its ceiling", bar=1.0)
    return number_cell(f"{100 * (1 - row.share):.0f} %", bar=row.share, hint=f"{percent(row.share, 1)} of the ceiling")


def _changes(summary: Summary) -> list[Grid]:
    """Return a table of the strongest finding of each suite."""
    lines = [(part.suite, strongest(part.suite, summary)) for part in summary.parts]
    rows = [[Cell(suite), Cell(_advised(finding))] for suite, finding in lines if finding is not None]
    return [Grid("What to change first", _CHANGE_COLUMNS, rows)]


def _advised(finding: Finding) -> str:
    """Return the text of ``finding``; a mere fact is introduced by saying that nothing was found to change."""
    is_fact = finding.severity == "info" and finding.kind not in _LIMITS
    return f"Nothing found to change. {finding.text}" if is_fact else finding.text


def strongest(suite: str, summary: Summary) -> Finding | None:
    """Return what ``suite`` found that ranks first, or None without findings.

    Warnings come first, then advice, what limits, and other facts.
    """

    def rank(finding: Finding) -> tuple[bool, int, int]:
        limit = _LIMITS.index(finding.kind) if finding.kind in _LIMITS else len(_LIMITS)
        return finding.kind in _OF_SCORES, _SEVERITIES.index(finding.severity), limit

    return min((finding for finding in summary.findings if finding.suite == suite), key=rank, default=None)


def what_was_run(summary: Summary) -> Grid:
    """Return a table of how every suite of the run ended."""
    return Grid("What was run", _SUITE_COLUMNS, [_suite(part) for part in summary.parts])


def _suite(part: Part) -> list[Cell]:
    took = DASH if part.seconds is None else format_time(part.seconds)
    return [Cell(part.suite), Cell(part.status), number_cell(took), Cell(part.reason or DASH)]


_OF_MACHINE: Final = (
    "State the values of the datasheets with --machine. `ullage machine --declare FILE` drafts the file."
)
_OF_TARGETS: Final = "State the rates of the datasheet: `--ceiling TARGET:write=RATE --ceiling TARGET:read=RATE`."


def _notes(summary: Summary, declared_by: Declaring) -> Sequence[str]:
    kinds = {row.ceiling.kind for row in _shown(summary) if row.ceiling is not None}
    notes: list[str] = []
    if "empirical" in kinds:
        how = _OF_TARGETS if declared_by == "ceiling" else _OF_MACHINE
        notes.append(f"An empirical ceiling is the best that was reached here. The hardware may do more. {how}")
    unknown = [part.suite for part in summary.parts if part.status == "not available"]
    if unknown:
        notes.append(f"Not available here: {', '.join(unknown)}; the last table says why.")
    return notes


def _shown(summary: Summary) -> list[Row]:
    return [summary.rows[headline.row] for part in summary.parts for headline in part.headlines]


SECTION: Final = Section(
    name="front",
    title="The machine at a glance",
    doc="Ullage is the empty part: 100 % less the share of its ceiling that a part reaches. You declare a ceiling, "
    "the hardware states it, or it is empirical. It belongs to the device, or to the cores that were used.",
    order=LEAD - 1,
    build=build,
)
SECTIONS: Final = (SECTION,)
