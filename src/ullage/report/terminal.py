# SPDX-License-Identifier: Apache-2.0
"""Everything in the terminal: scores, findings, the best settings, what to know, part after part.

The complete table is left to the files, and what fits on one screen is ``report/screen``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ullage.errors import one_line
from ullage.model.summary import Finding, Row, Summary
from ullage.quantity import plural
from ullage.report import texts
from ullage.report.contents import LEAD, Cards, Content, Section, built_sections
from ullage.report.data import ReportData
from ullage.report.grids import Column
from ullage.report.row_table import columns, front_columns, front_rows
from ullage.terminal import text_table

if TYPE_CHECKING:
    from rich.console import Console

_MOST_FINDINGS_OF_A_KIND: Final = 6
_MOST_ROWS: Final = 40
_STYLES: Final = {"warning": "yellow", "advice": "cyan", "info": ""}


def print_everything(data: ReportData, console: "Console") -> None:
    """Print as ``print_report`` does.

    Of a run made of suites, first comes what is said of the whole, then each part under its name.
    """
    from rich.text import Text

    summary = data.summary
    if not summary.parts:
        print_report(data, console)
        return
    _print(console, texts.title(data), "bold")
    _print(console, texts.verdict_line(data.view.main_rows))
    _print_sections(console, [found for found in built_sections(data) if found[0].order <= LEAD])
    parts = {part.suite for part in summary.parts}
    _print_findings(console, "Findings over the parts", [one for one in summary.findings if one.suite not in parts])
    for part in summary.parts:
        console.print()
        console.rule(Text(one_line(f"{part.suite}: {part.status}"), style="bold"), characters="=")
        print_report(replace(data, summary=_part(summary, part.suite)), console)


def _part(summary: Summary, suite: str) -> Summary:
    """Return what ``suite`` says of the whole, as a summary of its own.

    Scores stand above the parts and are left out.
    """
    return summary.model_copy(
        update={
            "suite": suite,
            "rows": [row for row in summary.rows if row.suite == suite],
            "findings": [one for one in summary.findings if one.suite == suite],
            "events": [one for one in summary.events if one.suite == suite],
            "scores": [],
            "parts": [],
        }
    )


def print_report(data: ReportData, console: "Console") -> None:
    """Print scores, findings, best settings or phases, all rows as long as they are few, and events."""
    summary, sections = data.summary, built_sections(data)
    _print(console, texts.title(data), "bold")
    if summary.rows:
        _print(console, texts.scope(data.view))
    _print(console, texts.verdict_line(data.view.main_rows))
    _print_sections(console, [found for found in sections if found[0].order <= LEAD])
    _print_findings(console, "Findings", summary.findings)
    front = [] if summary.parts else front_rows(data.view.swept)
    _print_rows(console, "Best settings", front_columns(data.view), front)
    if len(front) < len(summary.rows) <= _MOST_ROWS and data.view.swept and not summary.parts:
        _print_rows(console, "All rows", columns(data.view), summary.rows)
    _print_sections(console, [found for found in sections if found[0].order > LEAD])
    _print_findings(console, "Events", texts.events_once(summary.events))


def _print_sections(console: "Console", sections: Iterable[tuple[Section, Content]]) -> None:
    for section, content in sections:
        console.print()
        _print(console, section.title, "bold")
        for cards in content.cards:
            _print_cards(console, cards)
        for note in content.notes:
            _print(console, note, indent=2)
        for grid in content.grids:
            if grid.title:
                _print(console, grid.title)
            heads = [(column.heading, column.is_number) for column in grid.columns]
            console.print(text_table(heads, [[cell.text for cell in row] for row in grid.rows]))


def _print_cards(console: "Console", cards: Cards) -> None:
    if cards.title:
        _print(console, cards.title, indent=2)
    for card in cards.cards:
        _print(console, f"{card.name}: {card.value} {card.interval}".rstrip(), "bold", indent=2)
    wrong = not cards.valid and not cards.look
    _print(console, cards.stamp, "bold white on red" if wrong else "bold green" if cards.valid else "bold", indent=2)
    for reason in cards.reasons:
        _print(console, reason, "red" if wrong else "", indent=4)


def _print(console: "Console", text: str, style: str = "", indent: int = 0) -> None:
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(Text(one_line(text, limit=2000), style=style), (0, 0, 0, indent), expand=False))


def _print_findings(console: "Console", heading: str, findings: Iterable[Finding]) -> None:
    groups = texts.finding_groups(findings)
    if groups:
        console.print()
        _print(console, heading, "bold")
    for kind, found in groups:
        for finding in found[:_MOST_FINDINGS_OF_A_KIND]:
            mark = "" if finding.severity == "info" else f"{finding.severity}: "
            _print(console, f"{mark}{finding.text}", _STYLES[finding.severity], indent=2)
        if len(found) > _MOST_FINDINGS_OF_A_KIND:
            _print(
                console,
                f"... and {plural(len(found) - _MOST_FINDINGS_OF_A_KIND, f'more {kind} finding')} in the report",
                indent=2,
            )


def _print_rows(console: "Console", heading: str, shown: Sequence[Column[Row]], rows: Sequence[Row]) -> None:
    if not rows:
        return
    console.print()
    _print(console, heading, "bold")
    heads = [(column.heading, column.is_number) for column in shown]
    console.print(text_table(heads, [[column.text(row) for column in shown] for row in rows]))
