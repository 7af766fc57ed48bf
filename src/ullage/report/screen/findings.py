# SPDX-License-Identifier: Apache-2.0
"""The findings on the screen, at most five, and in one line what was not measured or does not count."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ullage.model.summary import Finding, Gain, Summary
from ullage.quantity import listing, plural, times
from ullage.report.answers import TROUBLE, Answer, remark_kinds
from ullage.report.changes import MOST_CHANGES, change_first
from ullage.report.data import ReportData
from ullage.report.first_screen import cared_for
from ullage.report.screen.lines import Line, folded

_MOST_TROUBLE: Final = 2
_MOST_ROWS: Final = 3
_STYLES: Final = {"warning": "yellow", "advice": "", "info": ""}


def top_findings(data: ReportData, answered: Sequence[Answer]) -> list[Finding]:
    """At most five: failures, then by gain, then the first advice and warning of each suite, then the others.

    What one suite's answer stands for is left to it; a run of suites fills up with the first line of their answers.
    ``care``: as ``change_first`` has it.
    """
    summary = data.summary
    found = [one for one in summary.findings if one.kind in TROUBLE][:_MOST_TROUBLE]
    found += [one for one in change_first(summary.findings, cared_for(data)) if one.kind not in TROUBLE]
    if summary.parts:
        found += _advised(summary, found)
        said = {one.suite for one in found}
        found += [_first(answer) for answer in answered if answer.lines and answer.suite not in said]
    return found[:MOST_CHANGES]


def _advised(summary: Summary, known: Sequence[Finding]) -> list[Finding]:
    """Those that no remark is, of each suite the first before the second of any."""
    remarks = remark_kinds() | TROUBLE
    left = [one for one in summary.findings if one.severity != "info" and one.kind not in remarks and one not in known]
    ordered = sorted(left, key=lambda one: one.severity == "warning")
    turns: dict[str, int] = {}
    places: list[int] = []
    for finding in ordered:
        turns[finding.suite] = turns.get(finding.suite, 0) + 1
        places.append(turns[finding.suite])
    return [one for _, one in sorted(zip(places, ordered, strict=True), key=lambda pair: pair[0])]


def _first(answer: Answer) -> Finding:
    return Finding(kind="answer", text=answer.lines[0], suite=answer.suite)


def finding_lines(findings: Sequence[Finding], room: int) -> list[Line]:
    """Numbered, each in at most three rows, as many as have ``room``."""
    lines: list[Line] = []
    for number, finding in enumerate(findings, start=1):
        rows = _rows(number, finding)
        if len(lines) + len(rows) > room:
            break
        lines += rows
    return lines


def _rows(number: int, finding: Finding) -> list[Line]:
    change = folded(f"do: {finding.change}", "     ", most=1, style="cyan") if finding.change else []
    parts = [
        f"{finding.suite}: " if finding.suite else "",
        f"{finding.title.rstrip('.')}{_gain(finding.gain)}. "
        if finding.title and finding.title not in finding.text
        else "",
        finding.text,
    ]
    text = folded("".join(parts), "     ", f"  {number}. ", _MOST_ROWS - len(change), _STYLES[finding.severity])
    return [*text, *change]


def _gain(gain: Gain | None) -> str:
    if gain is None:
        return ""
    interval = "" if gain.low is None or gain.high is None else f" [{times(gain.low)}, {times(gain.high)}]"
    return f" ({times(gain.factor)}{interval})"


_MOST_CODES: Final = 4


def caution(summary: Summary) -> str:
    """Empty where all was measured, all counts, and the run had no warning."""
    return "; ".join(_clauses(summary))


def _clauses(summary: Summary) -> Iterator[str]:
    if not summary.rows:
        yield "no number was measured"
    missing = [f"{part.suite} ({part.status})" for part in summary.parts if part.status != "complete"]
    if missing:
        yield f"not measured whole: {listing(missing)}"
    if invalid := sum(row.is_invalid for row in summary.rows):
        yield f"{plural(invalid, 'number')} INVALID"
    dirty, unknown = (sum(row.grade == grade for row in summary.rows) for grade in ("C", "?"))
    count = len(summary.rows)
    if dirty:
        yield f"{dirty:,} of {plural(count, 'number')} disturbed by other programs (grade C), no finding rests on them"
    if unknown:
        yield f"{unknown:,} for which other load is not known (grade ?)"
    single = sum(row.low is None for row in summary.rows)
    if single:
        yield f"{single:,} of one sample, without an interval"
    codes = Counter(event.kind for event in summary.events if event.severity == "warning")
    if codes:
        yield f"warnings of the run: {listing(list(codes), _MOST_CODES)}"
