# SPDX-License-Identifier: Apache-2.0
"""The findings on the screen, and in one line what was not measured or does not count."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ullage.analysis.findings.doubts import CONTAMINATION
from ullage.model.summary import Finding, Gain, Summary
from ullage.parameters import count_of
from ullage.quantity import listing, plural, times
from ullage.report.screen.lines import Line, folded
from ullage.results.events import title_of
from ullage.results.row_checks import verified_share

_MOST_ROWS: Final = 3
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
    change = folded(f"do: {finding.change}", "     ", most=1, style="cyan") if finding.change else []
    suite = f"{finding.suite}: " if finding.suite else ""
    is_said = not finding.title or finding.title in finding.text
    title = "" if is_said else f"{finding.title.rstrip('.')}{_gain(finding.gain)}. "
    most = _MOST_ROWS - len(change)
    text = _as_much_as_fits(f"{suite}{title}", finding.text, most)
    return [*folded(text, "     ", f"  {number}. ", most, _STYLES[finding.severity]), *change]


def _as_much_as_fits(head: str, text: str, most: int) -> str:
    """Return ``head`` with whole sentences of ``text``: first what is measured, last what to do, then those between.

    ``folded`` cuts off what is too long of the last one that stays.
    """
    sentences = _SENTENCE_END.split(text)
    while len(sentences) > 1 and len(folded(head + " ".join(sentences), "     ")) > most:
        sentences.pop(-2)
    return head + " ".join(sentences)


def _gain(gain: Gain | None) -> str:
    if gain is None:
        return ""
    interval = "" if gain.low is None or gain.high is None else f" [{times(gain.low)}, {times(gain.high)}]"
    return f" ({times(gain.factor)}{interval})"


_MOST_CODES: Final = 3


def caution(summary: Summary, *, names_warnings: bool = True) -> str:
    """Say what a reader must know; empty where all was measured, all counts, and the run had no warning."""
    return "; ".join([*_clauses(summary), *_warnings(summary, names_warnings=names_warnings)])


def _clauses(summary: Summary) -> Iterator[str]:
    if not summary.rows:
        yield "no number was measured"
    missing = [f"{part.suite} ({part.status})" for part in summary.parts if part.status != "complete"]
    if missing:
        yield f"these parts are not complete: {listing(missing)}"
    if invalid := sum(row.is_invalid for row in summary.rows):
        yield f"{plural(invalid, 'number')} {_are(invalid)} INVALID"
    dirty, unknown = (sum(row.grade == grade for row in summary.rows) for grade in ("C", "?"))
    count = len(summary.rows)
    if dirty:
        # A suite of which no finding says so may rest on them, and nodes that are all disturbed are compared.
        told = sum(count_of(finding.numbers, "dirty") for finding in summary.findings if finding.kind == CONTAMINATION)
        unused = ", which no finding uses" if told == dirty and summary.nodes is None else ""
        yield f"other programs disturbed {dirty:,} of {plural(count, 'number')} (grade C){unused}"
    if unknown:
        yield f"the load of other programs during {plural(unknown, 'number')} is not known (grade ?)"
    verified = [share for row in summary.rows if (share := verified_share(row.notes)) is not None]
    if verified:
        numbers = plural(len(verified), "number")
        yield f"{numbers} {_are(len(verified))} of data verified in part ({min(verified):g} % or more)"
    single = sum(row.low is None for row in summary.rows)
    if single:
        samples = "single samples" if single > 1 else "a single sample"
        yield f"{plural(single, 'number')} {_are(single)} {samples} without an interval"


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
