# SPDX-License-Identifier: Apache-2.0
"""The end of a run on one screen: at most 45 lines of 100 columns. Everything else is in the page and under --all."""

from typing import TYPE_CHECKING, Final

from ullage.model.summary import Summary
from ullage.report.answers import MOST_LINES, Answer, answers, fitted
from ullage.report.data import ReportData
from ullage.report.foremost import top_findings
from ullage.report.screen.bars import bar_lines, score_lines
from ullage.report.screen.findings import caution, finding_lines
from ullage.report.screen.lines import WIDTH, Line, cut, folded, rows_of, total
from ullage.report.screen.machine import machine_lines
from ullage.report.texts import host, title

if TYPE_CHECKING:
    from rich.console import Console

MOST_ROWS: Final = 45
# The caller prints these lines after the screen; they say where page and result lie.
_ROWS_AFTER: Final = 3
_MOST_OF_CAUTION: Final = 3
_CHANGES: Final = "Change first"


def screen(data: ReportData) -> list[Line]:
    """Return at most 42 rows, so that 3 are left for where the page and the result are."""
    summary = data.summary
    answered = answers(summary)
    own = [answer for answer in answered if answer.suite == summary.suite]
    last = _caution(summary)
    groups = [_head(summary), [*bar_lines(data), *score_lines(summary)], *[_answer(answer) for answer in own]]
    room = MOST_ROWS - _ROWS_AFTER - total([*groups, [Line()], last])
    groups += [_findings(data, answered, room), last]
    filled = [group for group in groups if group]
    return [line for number, group in enumerate(filled) for line in ([Line()] if number else []) + group]


def _head(summary: Summary) -> list[Line]:
    data = ReportData(summary)
    machine, what = host(data), summary.suite if summary.parts else title(data)
    what += f"{f' on {machine}' if machine else ''}, {summary.created[:16].replace('T', ' ')}"
    return [Line(cut(what, WIDTH), "bold"), *machine_lines(summary)]


def _answer(answer: Answer) -> list[Line]:
    """Return the question, and as many lines of the answer as fit into 8 rows, notes and remarks after them."""
    lines, left = fitted([*answer.lines, *answer.notes, *answer.remarks], MOST_LINES, rows_of)
    more = f" ({left} more lines: --all)" if left else ""
    return [Line(cut(f"{answer.title}{more}", WIDTH), "bold"), *[row for line in lines for row in folded(line)]]


def _findings(data: ReportData, answered: list[Answer], room: int) -> list[Line]:
    # The lines above the findings have shown the scores of these suites.
    scored = {score.suite for score in data.summary.scores}
    found = top_findings(data, [answer for answer in answered if answer.suite not in scored])
    rows = finding_lines(found, room - 1)
    gains = sum(one.gain is not None for one in found)
    title = _CHANGES if gains else "Findings"
    if 0 < gains < len(found):
        title += ", and other findings"
    return [Line(title, "bold"), *rows] if rows else []


def _caution(summary: Summary) -> list[Line]:
    """Name the warnings of the run where there is room, otherwise only their number."""
    for names_warnings in (True, False):
        text = caution(summary, names_warnings=names_warnings)
        lines = folded(f"Note: {text}.", style="yellow") if text else []
        if len(lines) <= _MOST_OF_CAUTION:
            return lines
    return folded(f"Note: {text}.", most=_MOST_OF_CAUTION, style="yellow")


def print_screen(data: ReportData, console: "Console") -> None:
    """Print the screen; a terminal that is narrower than the screen folds its lines."""
    from rich.text import Text

    for line in screen(data):
        console.print(Text(line.text, style=line.style), soft_wrap=True)
