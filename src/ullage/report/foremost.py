# SPDX-License-Identifier: Apache-2.0
"""The five findings that stand first: what went wrong, what to change first, what else is advised. Pure."""

from collections.abc import Collection, Sequence
from typing import Final

from ullage.model.summary import Finding, Summary
from ullage.report.answers import TROUBLE, Answer, remark_kinds
from ullage.report.changes import MOST_CHANGES, advice_of, change_first
from ullage.report.data import ReportData
from ullage.report.tabs import Parts

_MOST_TROUBLE: Final = 2


def changes_of(data: ReportData) -> list[Finding]:
    """Return what to change first, by what the reader cares for."""
    return change_first(data.summary.findings, cared_for(data))


def cared_for(data: ReportData) -> Collection[str]:
    """Return the suites in ``data.care``, which names them or the part of the machine that they measure; else none."""
    if not data.care:
        return ()
    parts = Parts(data.summary)
    suites = {finding.suite for finding in data.summary.findings}
    return [suite for suite in suites if {suite or data.summary.suite, parts.of_suite(suite)} & set(data.care)]


def top_findings(data: ReportData, answered: Sequence[Answer]) -> list[Finding]:
    """Return at most five findings: failures, then by gain, then advice and warnings, the first of each suite first.

    A single suite's answer has its advice and warnings, so they are listed for a run of suites only. That list fills
    up with findings on all suites together and with the first line of other suites' answers, where their scores count.
    ``data.care``: see ``change_first``.
    """
    summary = data.summary
    found = [one for one in summary.findings if one.kind in TROUBLE][:_MOST_TROUBLE]
    found += [one for one in change_first(summary.findings, cared_for(data)) if one.kind not in TROUBLE]
    if summary.parts:
        own = next((answer.told for answer in answered if answer.suite == summary.suite), ())
        found += _advised(summary, [*found, *own])
        found += _of_all(summary, [*found, *own])
        # What a score without validity says is a look, and no finding.
        said = (
            {one.suite for one in found}
            | {summary.suite}
            | {score.suite for score in summary.scores if not score.valid}
        )
        found += [_first(answer) for answer in answered if answer.lines and answer.suite not in said]
    return found[:MOST_CHANGES]


def first_lines(answered: Sequence[Answer]) -> list[Finding]:
    """Return the first line of each answer, for a page that has nothing else to begin with."""
    return [_first(answer) for answer in answered if answer.lines][:MOST_CHANGES]


def _advised(summary: Summary, known: Sequence[Finding]) -> list[Finding]:
    """Return advice and warnings that are no remarks, the first of each suite before the second of any."""
    remarks = remark_kinds(summary.suites) | TROUBLE
    told = set(map(advice_of, known))
    left = [one for one in summary.findings if one.severity != "info" and one.kind not in remarks]
    left = [one for one in left if one not in known and advice_of(one) not in told]
    ordered = sorted(left, key=lambda one: one.severity == "warning")
    turns: dict[str, int] = {}
    places: list[int] = []
    for finding in ordered:
        turns[finding.suite] = turns.get(finding.suite, 0) + 1
        places.append(turns[finding.suite])
    return [one for _, one in sorted(zip(places, ordered, strict=True), key=lambda pair: pair[0])]


def _of_all(summary: Summary, known: Sequence[Finding]) -> list[Finding]:
    """Return what only the rows of several suites together tell."""
    remarks = remark_kinds(summary.suites) | TROUBLE
    return [one for one in summary.findings if not one.suite and one.kind not in remarks and one not in known]


def _first(answer: Answer) -> Finding:
    return Finding(kind="answer", text=answer.lines[0], suite=answer.suite)
