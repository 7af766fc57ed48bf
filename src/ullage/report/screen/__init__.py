# SPDX-License-Identifier: Apache-2.0
"""The end of a run on one screen: at most 45 lines of 100 columns. Everything else is in the page and under --all."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ullage.model.summary import Finding, Gain, Summary
from ullage.quantity import listing, plural, times
from ullage.report.answers import MOST_LINES, Answer, answers, fitted
from ullage.report.comparison_text import largest
from ullage.report.data import ReportData
from ullage.report.first_screen import top_findings
from ullage.report.screen.lines import (
    WIDTH,
    Line,
    bar_lines,
    cut,
    folded,
    machine_lines,
    narrowed,
    rows_of,
    score_lines,
    soundness_lines,
    total,
)
from ullage.report.sections.beside import BESIDE, cell_text, compared
from ullage.report.texts import host, title
from ullage.results.events import title_of
from ullage.results.row_checks import verified_share

if TYPE_CHECKING:
    from rich.console import Console

_MOST_ROWS_OF_A_FINDING: Final = 3
# A point within a number or a name has no space and capital after it.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_STYLES: Final = {"warning": "yellow", "advice": "", "info": ""}


def finding_lines(findings: Sequence[Finding], room: int) -> list[Line]:
    """Number the findings, each in at most three rows, as many as have ``room``."""
    lines: list[Line] = []
    for number, finding in enumerate(findings, start=1):
        rows = _rows(number, finding)
        if len(lines) + len(rows) > room:
            break
        lines += rows
    return lines


def _rows(number: int, finding: Finding) -> list[Line]:
    change = folded(f"do: {_typed(finding)}", "     ", most=1, style="cyan") if finding.change else []
    suite = f"{finding.suite}: " if finding.suite else ""
    is_said = not finding.title or finding.title in finding.text
    title = "" if is_said else f"{finding.title.rstrip('.')}{_gain(finding.gain)}. "
    most = _MOST_ROWS_OF_A_FINDING - len(change)
    # The first sentence and the last, what to do, go before those between.
    head = f"{suite}{title}"
    sentences = _SENTENCE_END.split(finding.text)
    while len(sentences) > 2 and len(folded(head + " ".join(sentences), "     ")) > most:
        sentences.pop(-2)
    text = head + " ".join(sentences)
    return [*folded(text, "     ", f"  {number}. ", most, _STYLES[finding.severity]), *change]


def _typed(finding: Finding) -> str:
    return finding.change.replace("`", "")


def _gain(gain: Gain | None) -> str:
    if gain is None:
        return ""
    interval = "" if gain.low is None or gain.high is None else f" [{times(gain.low)}, {times(gain.high)}]"
    return f" ({times(gain.factor)}{interval})"


_MOST_CODES: Final = 3


def _clauses(summary: Summary) -> Iterator[str]:
    if missing := [part.suite for part in summary.parts if part.status == "not available"]:
        yield f"not measured: {listing(missing)}"
    if unknown := sum(row.grade == "?" for row in summary.rows):
        yield f"the load of other programs during {plural(unknown, 'row')} is not known (grade ?)"
    verified = [share for row in summary.rows if (share := verified_share(row.notes)) is not None]
    if verified:
        rows = plural(len(verified), "row")
        yield f"{rows} {_are(len(verified))} of data verified in part ({min(verified):g} % or more)"
    single = sum(row.low is None for row in summary.rows)
    if single:
        samples = "single samples" if single > 1 else "a single sample"
        yield f"{plural(single, 'row')} {_are(single)} {samples} without an interval"


def _warnings(summary: Summary, *, names_warnings: bool) -> Iterator[str]:
    codes = Counter(event.kind for event in summary.events if event.severity == "warning")
    if codes and names_warnings:
        yield f"warnings of the run: {listing([_lowered(title_of(code)) for code in codes], _MOST_CODES)}"
    elif codes:
        yield f"the run has {plural(codes.total(), 'warning')} (--all shows them)"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _lowered(title: str) -> str:
    """Write a title as it stands within a sentence; names and abbreviations keep their letters."""
    return title[:1].lower() + title[1:] if title[1:2].islower() or title[1:2] == " " else title


MOST_ROWS: Final = 45
# The caller prints these lines after the screen; they say where page and result lie.
_ROWS_AFTER: Final = 3
_MOST_OF_CAUTION: Final = 3
_MOST_BESIDE: Final = 3
_CHANGES: Final = "Change first"


def screen(data: ReportData) -> list[Line]:
    """Return at most 42 rows, so that 3 are left for where the page and the result are."""
    summary = data.summary
    answered = answers(summary)
    last = _caution(summary)
    own = [_answer(answer) for answer in answered if answer.suite == summary.suite]
    groups = [_head(data), *own, [*bar_lines(data), *score_lines(summary)], _beside(summary)]
    room = MOST_ROWS - _ROWS_AFTER - total([*groups, [Line()], last])
    groups += [_findings(data, answered, room), last]
    filled = [group for group in groups if group]
    return [line for number, group in enumerate(filled) for line in ([Line()] if number else []) + group]


def _head(data: ReportData) -> list[Line]:
    """Return what was run, then whether it may be believed, then the machine."""
    summary, machine = data.summary, host(data)
    what = summary.suite if summary.parts else title(data)
    what += f"{f' on {machine}' if machine else ''}, {summary.created[:16].replace('T', ' ')}"
    return [Line(cut(what, WIDTH), "bold"), *soundness_lines(data), *machine_lines(summary)]


def _answer(answer: Answer) -> list[Line]:
    """Return the question, and as many lines of the answer as fit into 8 rows, notes and remarks after them."""
    said = [line for line in (*answer.lines, *answer.notes, *answer.remarks) if line != answer.unlike]
    lines, left = fitted(said, MOST_LINES, rows_of)
    more = f" ({plural(left, 'more line')}: --all)" if left else ""
    return [Line(cut(f"{answer.title}{more}", WIDTH), "bold"), *[row for line in lines for row in folded(line)]]


def _beside(summary: Summary) -> list[Line]:
    found, texts = compared(summary)
    told = [] if found is None else [cell_text(cell) for cell in largest(found)[:_MOST_BESIDE]]
    lines = [line for text in [*texts, *told] for line in folded(text, most=2)]
    return [Line(BESIDE.title, "bold"), *lines] if lines else []


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
        text = "; ".join([*_clauses(summary), *_warnings(summary, names_warnings=names_warnings)])
        lines = folded(f"Note: {text}.", style="yellow") if text else []
        if len(lines) <= _MOST_OF_CAUTION:
            return lines
    return folded(f"Note: {text}.", most=_MOST_OF_CAUTION, style="yellow")


def print_screen(data: ReportData, console: "Console") -> None:
    """Print the screen; a terminal that is narrower than the screen folds its lines."""
    from rich.text import Text

    for line in screen(data):
        for row in narrowed(line, min(WIDTH, console.width)):
            console.print(Text(row.text, style=row.style), soft_wrap=True)
