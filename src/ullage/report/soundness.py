# SPDX-License-Identifier: Apache-2.0
"""Whether a result may be believed: what stands before any number of page, picture, brief and terminal.

A run that was interrupted or failed in part lacks numbers. One that was mostly disturbed, or has INVALID rows, has
numbers that do not count. Of each: what happened, how many rows it concerns, and what to do. Of any other run one quiet
line says that nothing speaks against it, or how few rows do not count.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.doubts import CONTAMINATION
from ullage.analysis.findings.phrasing import capital
from ullage.model.summary import Finding, Part, PartStatus, Row, Summary
from ullage.parameters import count_of
from ullage.quantity import listing, plural
from ullage.report.answers import asked, flag_words
from ullage.report.data import Launch, ReportData
from ullage.report.ladders import KIND as RUNG
from ullage.report.texts import NO_GRADE, grade_counts

_FAILED: Final = frozenset({"failure", "launch-failed"})
_MOST_NAMED: Final = 3
_CUT_SHORT: Final = ("", "interrupted")


@dataclass(frozen=True)
class Soundness:
    """Whether a result may be believed. ``title``: why not; empty where nothing speaks against it as a whole.

    ``lines`` are sentences. ``command`` goes on; empty: nothing does.
    """

    title: str
    lines: tuple[str, ...]
    command: str = ""


@dataclass(frozen=True)
class _Cause:
    state: str
    text: str
    goes_on: bool = False


def soundness(data: ReportData) -> Soundness:
    """Return what stands in the box, or on the quiet line of a result without a cause for doubt."""
    causes = list(_causes(data))
    folder = shlex.quote(data.folder) if data.folder else "RESULT"
    command = f"ullage resume {folder}" if any(cause.goes_on for cause in causes) else ""
    texts = [cause.text for cause in causes]
    if _dirty(data.summary) and not _is_mostly_disturbed(data.summary):
        texts.append(f"{capital(disturbed(data.summary))}.{'' if causes else ' No other row was disturbed.'}")
    title = capital(", ".join(cause.state for cause in causes))
    return Soundness(title, tuple(texts or [_quiet(data.summary.rows)]), command)


def _quiet(rows: Sequence[Row]) -> str:
    grades = [grade for grade, _ in grade_counts(rows)]
    graded = NO_GRADE if grades == [NO_GRADE] else f"{'grade' if len(grades) == 1 else 'grades'} {listing(grades)}"
    clean = " (other programs took less than 5 % of the time)" if {*grades} <= {"A", "B"} else ""
    clean = " (?: too short to know what other programs took)" if "?" in grades else clean
    return f"No row is INVALID or known to be disturbed: {plural(len(rows), 'row')}, {graded}{clean}."


def _is_mostly_disturbed(summary: Summary) -> bool:
    return 2 * _dirty(summary) > len(summary.rows)


def disturbed(summary: Summary) -> str:
    """Say how many rows other programs disturbed, and that no finding uses them where that is so."""
    dirty = _dirty(summary)
    # A suite of which no finding says so may rest on them, and nodes that are all disturbed are compared.
    told = sum(count_of(finding.numbers, "dirty") for finding in summary.findings if finding.kind == CONTAMINATION)
    is_unused = told == dirty and summary.nodes is None and all(one.kind != RUNG for one in summary.findings)
    unused = ", which no finding uses" if is_unused else ""
    rows = plural(len(summary.rows), "row")
    return f"other programs disturbed {dirty:,} of {rows} (grade C: they took 5 % or more of the time){unused}"


def _dirty(summary: Summary) -> int:
    return sum(row.grade == "C" for row in summary.rows)


def _causes(data: ReportData) -> Iterator[_Cause]:
    summary, measured = data.summary, plural(len(data.summary.rows), "row")
    if missing := _missing(summary, data.launches):
        yield _Cause("interrupted", f"The run was interrupted: {missing}. It has {measured}.", goes_on=True)
    if failed := _failures(summary):
        yield _Cause(
            "failed in part", f"{failed}. The run has {measured}. Remove the cause, then continue.", goes_on=True
        )
    if not summary.rows:
        yield _Cause("no number was measured", "The run ended before its first number.")
    if _is_mostly_disturbed(summary):
        most = "all rows" if _dirty(summary) == len(summary.rows) else "mostly"
        yield _Cause(f"{most} disturbed", f"{capital(disturbed(summary))}. Run again when the machine is idle.")
    # Looks are scores of runs that were made shorter on purpose than their rules require.
    looks = {(score.suite or summary.suite, score.name) for score in summary.scores if score.look}
    invalid = [row for row in summary.rows if row.is_invalid and (row.suite or summary.suite, row.metric) not in looks]
    if invalid:
        are = "is INVALID and does" if len(invalid) == 1 else "are INVALID and do"
        why = listing(list(dict.fromkeys(_reasons(invalid))), _MOST_NAMED)
        yield _Cause(
            "partly INVALID" if len(invalid) < len(summary.rows) else "INVALID",
            f"{len(invalid):,} of {measured} {are} not count{f': {why}' if why else ''}.",
        )
    answer = asked(summary)
    if answer is not None and answer.unlike:
        yield _Cause("not measured alike", answer.unlike)


def _reasons(rows: Sequence[Row]) -> Iterator[str]:
    return (flag_words(flag).removeprefix("INVALID: ") for row in rows for flag in row.flags if flag.is_invalid)


def _missing(summary: Summary, launches: Sequence[Launch]) -> str:
    """Say what an interrupted run lacks; empty of a run that went on to its end."""
    if summary.parts:
        left = _parts(summary.parts, "interrupted", "not begun")
        return f"{left} of {plural(len(summary.parts), 'suite')}" if left else ""
    # A run that was resumed has earlier launches that were cut short.
    last = max(launches, key=lambda launch: launch.run.started, default=None)
    return "its last launch did not end" if last is not None and last.ended in _CUT_SHORT else ""


def _failures(summary: Summary) -> str:
    if summary.parts and (left := _parts(summary.parts, "failed")):
        return f"Some suites failed: {left}"
    found: list[Finding] = [one for one in (*summary.findings, *summary.events) if one.kind in _FAILED]
    return listing(list(dict.fromkeys(one.title or one.text.rstrip(".") for one in found)), _MOST_NAMED)


def _parts(parts: Sequence[Part], *states: PartStatus) -> str:
    said = [f"{part.suite} ({part.status})" for part in parts if part.status in states]
    return listing(said).replace("(not begun)", "(not started)")
