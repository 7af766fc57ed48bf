# SPDX-License-Identifier: Apache-2.0
"""One answer for one question: what a suite's findings say together, decisions first, each thing once. Pure data.

A suite's ``report`` sets ``ANSWERS``, a tuple of ``AnswerRule``; a suite without one is answered by its findings in the
order of their severity. Lines state what findings and rows carry and conclude nothing of their own; the findings stay
whole in summary.json. Pages and terminals show the same lines.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ullage.discovery import gathered, suite_modules
from ullage.grouping import grouped
from ullage.model.summary import Finding, Row, Summary
from ullage.report.answers.grids import grid_lines, is_of_grid
from ullage.report.answers.once import DIFFERS, ONCE, said_once, unanswered
from ullage.report.changes import sure_gain

MOST_LINES: Final = 8
_ANY_QUESTION: Final = "What do the numbers say?"
_OF_NODES: Final = "Which nodes are worse than the others?"
TROUBLE: Final = frozenset({"failure", "invalid"})
"""Kinds of findings on what went wrong. They stand before the answers."""
_OF_A_KIND: Final = 2
_SEVERITIES: Final = ("advice", "warning", "info")


@dataclass(frozen=True)
class AnswerRule:
    """What ``suite`` is asked, and which kinds of its findings answer, the decision first.

    ``remarks``: kinds that speak of the measurement rather than of the machine. ``best``: the number by which findings
    of a kind stand in order where they have no gain: the largest first, or of ``-name`` the least.
    """

    suite: str
    title: str
    kinds: Sequence[str] = ()
    remarks: Sequence[str] = ()
    best: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Answer:
    """What the numbers of a suite say to its question.

    ``lines``: sentences, the decision first. ``notes``: what holds for all rows, and flags in words, each once.

    ``remarks``: on the measurement. ``told``: the findings that all these stand for.
    """

    suite: str
    title: str
    lines: tuple[str, ...]
    notes: tuple[str, ...]
    remarks: tuple[str, ...]
    told: tuple[Finding, ...]


def answers(summary: Summary, rules: Sequence[AnswerRule] | None = None) -> list[Answer]:
    """Return an answer for each suite with something to say, in the order of the summary. ``rules``: all by default."""
    by_suite = {rule.suite: rule for rule in (load_rules(summary.suites) if rules is None else rules)}
    if summary.nodes is not None:
        by_suite[summary.suite] = AnswerRule(summary.suite, _OF_NODES)
    suites = [part.suite for part in summary.parts]
    suites = [*([] if suites and summary.suite not in by_suite else [summary.suite]), *suites]
    found = [_answer(by_suite.get(suite, AnswerRule(suite, _ANY_QUESTION)), summary) for suite in suites]
    return [answer for answer in found if answer.lines or answer.notes or answer.remarks]


def load_rules(suites: Collection[str] | None = None) -> list[AnswerRule]:
    """Return the answer rules of ``suites`` (None: of all)."""
    return gathered(suite_modules("report", suites), "ANSWERS")


def remark_kinds(suites: Collection[str] | None = None) -> frozenset[str]:
    """Return the kinds of findings that speak of a measurement: whether it counts, with what it may be compared."""
    return frozenset(kind for rule in load_rules(suites) for kind in rule.remarks) | ONCE


def _answer(rule: AnswerRule, summary: Summary) -> Answer:
    findings = [one for one in summary.findings if _owner(one, summary) == rule.suite]
    rows = [row for row in summary.rows if _owner(row, summary) == rule.suite]
    merged = [one for one in findings if is_of_grid(one) or one.kind in ONCE]
    known = set(map(id, merged))
    others = [one for one in _ordered(rule, findings) if id(one) not in known and one.kind not in TROUBLE]
    notes = said_once(rows, findings)
    differs = [note for note in notes if note.startswith(DIFFERS)]
    lines = [*grid_lines(findings, differs), *_texts(one for one in others if one.kind not in rule.remarks)]
    if rule.kinds and rows and not lines:
        notes = [unanswered(rows), *notes]
    remarks = _texts(one for one in others if one.kind in rule.remarks)
    notes = [note for note in notes if note not in lines]
    return Answer(rule.suite, rule.title, tuple(lines), tuple(notes), tuple(remarks), (*merged, *others))


def _texts(findings: Iterable[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.text for finding in findings))


def _owner(one: Finding | Row, summary: Summary) -> str:
    """Return the suite that made ``one``; what a run made of suites says of all of them belongs to the run itself."""
    return one.suite or summary.suite


def _ordered(rule: AnswerRule, findings: Sequence[Finding]) -> list[Finding]:
    """Sort by the rule's kinds, then by severity and what is best; the third and later of a kind follow all first two.

    The best of a kind has the largest sure gain, else the largest of the number that the rule names for it.
    """
    places = {kind: place for place, kind in enumerate(rule.kinds)}

    def within(one: Finding) -> tuple[int, float, float]:
        return _SEVERITIES.index(one.severity), -sure_gain(one.gain), -_number(one, rule.best.get(one.kind, ""))

    by_kind = grouped((one.kind, one) for one in sorted(findings, key=within))
    turns = [(place >= _OF_A_KIND, one) for some in by_kind.values() for place, one in enumerate(some)]
    ordered = sorted(turns, key=lambda turn: (turn[0], places.get(turn[1].kind, len(places)), within(turn[1])[0]))
    return [one for _, one in ordered]


def _number(finding: Finding, name: str) -> float:
    """Return a number of a finding, of several the largest; 0 where it has none. Of ``-name`` the least comes first."""
    sign = -1 if name.startswith("-") else 1
    found = finding.numbers.get(name.removeprefix("-"))
    known = [sign * one for one in (found if isinstance(found, list) else [found]) if isinstance(one, (int, float))]
    return float(max(known, default=0.0))


def fitted(lines: Sequence[str], most: int, rows_of: Callable[[str], int]) -> tuple[list[str], int]:
    """Return those of ``lines`` that together fill at most ``most`` rows, in order, and how many lines are left out.

    ``rows_of`` tells how many rows a line takes. A line that does not fit is passed over, and a shorter one may follow.
    """
    shown: list[str] = []
    used = 0
    for line in lines:
        rows = rows_of(line)
        if used + rows <= most:
            shown.append(line)
            used += rows
    return shown, len(lines) - len(shown)
