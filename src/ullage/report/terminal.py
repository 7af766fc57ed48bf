# SPDX-License-Identifier: Apache-2.0
"""The report in the terminal: findings, the best settings, what to know. The complete table is left to the files."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ullage.errors import one_line
from ullage.model.summary import Finding, Row, Summary
from ullage.report import words
from ullage.report.data import ReportData
from ullage.report.quantity import plural
from ullage.report.table import Column, columns, front_columns, front_rows

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_MOST_FINDINGS_OF_A_KIND: Final = 6
_MOST_ROWS: Final = 40
_PLAIN_WIDTH: Final = 160
_STYLES: Final = {"warning": "yellow", "advice": "cyan", "info": ""}


def make_console() -> "Console":
    """A console on stdout. Into a pipe or a file it writes plain, long lines."""
    import sys

    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH)


def print_summary(summary: Summary, console: "Console") -> None:
    """Findings, best settings, all rows as long as they are few, and events."""
    data = ReportData(summary)
    _print(console, words.title(data), "bold")
    if summary.rows:
        _print(console, words.scope(data.view))
    _print(console, words.verdict_line(data.view.main_rows))
    _print_findings(console, "Findings", summary.findings)
    front = front_rows(data.view.main)
    _print_rows(console, "Best settings", front_columns(data.view), front)
    if len(front) < len(summary.rows) <= _MOST_ROWS:
        _print_rows(console, "All rows", columns(data.view), summary.rows)
    for score in summary.scores:
        reasons = f" (not valid: {'; '.join(score.reasons)})" if not score.valid else ""
        _print(console, f"Score {score.name}: {score.value:g} {score.unit}{reasons}")
    _print_findings(console, "Events", words.by_severity(summary.events))


def _print(console: "Console", text: str, style: str = "", indent: int = 0) -> None:
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(Text(one_line(text, limit=2000), style=style), (0, 0, 0, indent), expand=False))


def _print_findings(console: "Console", heading: str, findings: Iterable[Finding]) -> None:
    groups = words.finding_groups(findings)
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


def _print_rows(console: "Console", heading: str, shown: Sequence[Column], rows: Sequence[Row]) -> None:
    if not rows:
        return
    console.print()
    _print(console, heading, "bold")
    console.print(rows_table(shown, rows))


def rows_table(shown: Sequence[Column], rows: Sequence[Row]) -> "Table":
    """A table whose cells are harmless text: what does not fit is folded, never cut."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in shown:
        table.add_column(Text(column.heading), justify="right" if column.is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(column.text(row))) for column in shown))
    return table
