# SPDX-License-Identifier: Apache-2.0
"""One answer for one question: what a suite's findings say together, decisions first, each thing once. Pure data.

A suite's ``report`` sets ``ANSWERS``, a tuple of ``AnswerRule``; a suite without one is answered by its findings in the
order of their severity. Lines state what findings and rows carry and conclude nothing of their own; the findings stay
whole in summary.json. Pages and terminals show the same lines.

What to change first: findings of all suites that name a gain, ranked by one rule; each as heading and text.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ullage.analysis.findings.phrasing import capital, noun
from ullage.analysis.findings.together import grid_lines, is_of_grid
from ullage.discovery import gathered, suite_modules
from ullage.grouping import grouped
from ullage.model import flags
from ullage.model.summary import Finding, Gain, Row, Summary
from ullage.quantity import listing
from ullage.report.bars import Bars, side_by_side

_LONGEST: Final = 90
_CLAUSE: Final = re.compile(r"[:;.](?=\s|$)")


@dataclass(frozen=True)
class HeadedText:
    """A finding as heading and text.

    ``text`` does not say again what ``title`` says. ``stop`` stands between the two.
    """

    title: str
    text: str
    stop: str = "."


def told(finding: Finding) -> HeadedText:
    """Split off a heading: the finding's own title, else its text up to the first stop unless that is too long.

    So it is too where the text begins with the title and goes on.
    """
    if finding.title:
        text = _continued(finding.text, finding.title)
        if not text.startswith(finding.title):
            return HeadedText(finding.title, text)
    stop = _CLAUSE.search(finding.text)
    head, rest = (finding.text, "") if stop is None else (finding.text[: stop.start()], finding.text[stop.end() :])
    if not head or len(head) > _LONGEST:
        return HeadedText("", finding.text)
    # After a colon there may stand a name, which keeps its letters.
    if stop is not None and stop[0] == ":":
        return HeadedText(head, rest.strip(), ":")
    return HeadedText(head, capital(rest.strip()))


def _continued(text: str, title: str) -> str:
    """Return ``text`` without the title that it begins with, or unchanged where no stop follows the title."""
    if not text.startswith(title) or text[len(title) :][:1] not in (":", ";", "."):
        return text
    return capital(text[len(title) + 1 :].strip())


MOST_CHANGES: Final = 5
# A table with many lines says the same of each of them.
MOST_OF_A_KIND: Final = 2
_OTHERS: Final = 0.1
_NOT_COMPARED: Final = 0.1


def change_first(findings: Iterable[Finding], care: Collection[str] = (), most: int = MOST_CHANGES) -> list[Finding]:
    """Return at most ``most`` findings with a gain, the largest weight first, and at most two of one kind of a suite.

    Of several that advise the same change, the one with the largest weight stands for all. Changes of our own test
    never rank.

    The weight is the logarithm of the gain that is sure: of the lower bound of its interval, which holds at the level
    of all sentences of a report together, so that a large gain that is poorly known ranks below a smaller one that is
    well known. Where a gain has no interval (an import), it is a tenth of the logarithm of its estimate. ``care``:
    suites that the reader uses; where any are named, the others weigh a tenth. Equal weights keep their order.
    """
    known = [
        (sure_gain(found.gain) * (1.0 if not care or found.suite in care else _OTHERS), found)
        for found in findings
        if found.gain is not None and _OF_OUR_TEST.fullmatch(found.change) is None
    ]
    ranked = sorted((pair for pair in known if pair[0] > 0), key=lambda pair: -pair[0])
    kinds: Counter[tuple[str, str]] = Counter()
    chosen: dict[tuple[str, str], Finding] = {}
    for _, found in ranked:
        advice = advice_of(found)
        kinds[found.suite, found.kind] += advice not in chosen
        if kinds[found.suite, found.kind] <= MOST_OF_A_KIND:
            chosen.setdefault(advice, found)
    return list(chosen.values())[:most]


_OF_OUR_TEST: Final = re.compile(r"(--(cache|verify|volume|buffers|time|repetitions|seconds|quick)( \S+)?\s*)+")


def advice_of(finding: Finding) -> tuple[str, str]:
    """Return what a finding advises: the same of several findings is said once."""
    return finding.suite, finding.change or finding.text


def sure_gain(gain: Gain | None) -> float:
    """Return the logarithm of the gain that is sure; 0 without a gain."""
    if gain is None:
        return 0.0
    return math.log(gain.low) if gain.low else _NOT_COMPARED * math.log(gain.factor)


MOST_LINES: Final = 8
_ANY_QUESTION: Final = "What do the numbers say?"
TROUBLE: Final = frozenset({"failure", "invalid"})
"""Kinds of findings on what went wrong. They stand before the answers."""
_OF_A_KIND: Final = 2
_SEVERITIES: Final = ("advice", "warning", "info")


@dataclass(frozen=True)
class AnswerRule:
    """What ``suite`` is asked, and which ``kinds`` (words) of its findings answer, the decision first.

    ``remarks``: kinds that speak of the measurement rather than of the machine. ``best``: the number by which findings
    of a kind stand in order where they have no gain: the largest first, or of ``-name`` the least. ``picture``: makes
    the one picture of the answer; without it each target stands beside the others.
    """

    suite: str
    title: str
    kinds: str = ""
    remarks: str = ""
    best: Mapping[str, str] = field(default_factory=dict[str, str])
    picture: Callable[[Summary], list[Bars]] = side_by_side


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

    @property
    def unlike(self) -> str:
        """Say how targets that are compared were measured; empty where that was alike."""
        return next((line for line in (*self.lines, *self.notes) if line.startswith(DIFFERS)), "")


def answers(summary: Summary, rules: Sequence[AnswerRule] | None = None) -> list[Answer]:
    """Return an answer for each suite with something to say, in the order of the summary. ``rules``: all by default."""
    by_suite = {rule.suite: rule for rule in (load_rules(summary.suites) if rules is None else rules)}
    if summary.nodes is not None:
        by_suite[summary.suite] = AnswerRule(summary.suite, "Which nodes are worse than the others?")
    suites = [part.suite for part in summary.parts]
    suites = [*([] if suites and summary.suite not in by_suite else [summary.suite]), *suites]
    found = [_answer(by_suite.get(suite, AnswerRule(suite, _ANY_QUESTION)), summary) for suite in suites]
    return [answer for answer in found if answer.lines or answer.notes or answer.remarks]


def asked(summary: Summary) -> Answer | None:
    """Return the answer to the question of the suite that was run; None of one without a question of its own."""
    own = (one for one in answers(summary) if one.suite == summary.suite and one.title != _ANY_QUESTION)
    return next(own, None)


def picture_of(summary: Summary) -> list[Bars]:
    """Return the one picture of the suite's answer; nothing where the vessels of the machine's parts are it."""
    rule = next((rule for rule in load_rules(summary.suites) if rule.suite == summary.suite), None)
    return (side_by_side if rule is None else rule.picture)(summary)


def load_rules(suites: Collection[str] | None = None) -> list[AnswerRule]:
    """Return the answer rules of ``suites`` (None: of all)."""
    return gathered(suite_modules("report", suites), "ANSWERS")


def remark_kinds(suites: Collection[str] | None = None) -> frozenset[str]:
    """Return the kinds of findings that speak of a measurement: whether it counts, with what it may be compared."""
    return frozenset(kind for rule in load_rules(suites) for kind in rule.remarks.split()) | ONCE


def _answer(rule: AnswerRule, summary: Summary) -> Answer:
    findings = [one for one in summary.findings if _owner(one, summary) == rule.suite]
    rows = [row for row in summary.rows if _owner(row, summary) == rule.suite]
    merged = [one for one in findings if is_of_grid(one) or one.kind in ONCE]
    known = set(map(id, merged))
    others = [one for one in _ordered(rule, findings) if id(one) not in known and one.kind not in TROUBLE]
    notes = said_once(rows, findings)
    differs = [note for note in notes if note.startswith(DIFFERS)]
    lines = [*grid_lines(findings, differs), *_texts(one for one in others if one.kind not in rule.remarks.split())]
    if rule.title != _ANY_QUESTION and rows and not lines:
        notes = [unanswered(rows), *notes]
    remarks = _texts(one for one in others if one.kind in rule.remarks.split())
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
    places = {kind: place for place, kind in enumerate(rule.kinds.split())}

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


ONCE: Final = frozenset({"cache", "contamination", "contamination-unknown", flags.ABOVE_THREADS})
_MOST_FLAGS: Final = 3
DIFFERS: Final = "The targets were not measured alike"
_WORDS: Final = {
    flags.IDLE_RANKS: "some ranks had nothing to do",
    flags.PAYLOAD_IN_TIME: "making data is part of the time",
    flags.PREPARATION_IN_TIME: "preparing is part of the time",
    flags.CLOCK_STOPPED: "the clock was stopped while data was made",
    flags.VERIFIED_IN_TIME: "checking data is part of the time",
    flags.BUFFERS_IN_TURN: "several buffers were used in turn",
    flags.TOO_SHORT: "too short to be timed well",
    flags.STAMPED_IN_GROUPS: "latencies are means of several operations",
    flags.NOT_PERSISTENT: "not on persistent memory",
    flags.REMOVED_LATELY: "files that were removed lately slowed creates",
    flags.NO_HUGE_PAGES: "the kernel gave no huge pages",
    flags.ABOVE_THREADS: "more than the threads can do",
    flags.CLOCK_SKEW: "clocks of the nodes differ",
    flags.OVERSUBSCRIBED: "more ranks than cores",
    flags.UNPINNED: "ranks are not bound to cores",
    flags.DIRTY_USED: "disturbed repetitions are counted",
    flags.OUTLIERS: "single repetitions far from the others",
    flags.DRIFTING: "repetitions that rise or fall in turn",
    flags.DEPENDENT: "repetitions that are not independent",
    flags.NOT_CONVERGED: "the interval is wider than was asked",
    flags.INVALID_ABOVE_CEILING: "INVALID: breaks a limit of physics",
    flags.INVALID_LITTLES_LAW: "INVALID: breaks a limit of physics",
    flags.INVALID_VERIFICATION: "INVALID: wrong data was read back",
    flags.INVALID_NOTHING_ARRIVED: "INVALID: nothing arrived",
    flags.INVALID: "INVALID: incomplete, or against the rules of its benchmark",
    "interval-below-95": "too few repetitions for a 95 % interval",
}


def flag_words(flag: flags.Flag) -> str:
    """Say what ``flag`` means; of a kind that nobody has put into words, return its code."""
    return _WORDS.get(flag.code) or _WORDS.get(flag.kind, flag.kind.replace("-", " "))


def unanswered(rows: Sequence[Row]) -> str:
    """Say that no finding answers the question of a suite, and why where other programs are the cause."""
    dirty = sum(row.grade == "C" for row in rows)
    if not dirty:
        return "No finding of this run answers the question."
    return (
        f"There is no answer: other programs disturbed {_share(dirty, len(rows))}, and no finding rests on these. Run "
        "again on an idle machine."
    )


def nothing_found(rows: Sequence[Row]) -> str:
    """Say that there is no finding at all, and why where other programs are the cause."""
    return unanswered(rows) if any(row.grade == "C" for row in rows) else "Nothing was found."


def said_once(rows: Sequence[Row], findings: Sequence[Finding]) -> list[str]:
    """Return at most two sentences: what was measured, and the flags."""
    return [*_measured(rows, findings), *_flags(rows)]


def _measured(rows: Sequence[Row], findings: Sequence[Finding]) -> list[str]:
    """Repeat the finding where one says it of all; else name each target with the verdicts of its accesses.

    Return nothing where no finding is about it, or no row is in B/s.
    """
    said = [finding.text for finding in findings if finding.kind == "cache"]
    if len(said) == 1:
        return said
    found: dict[str, dict[str, dict[str, None]]] = {}
    for row in rows:
        if row.unit != "B/s":
            continue
        access = noun(str(row.params.get("access", "")))
        found.setdefault(row.target, {}).setdefault(access, {})[row.verdict.partition(" ")[0]] = None
    if not said or not found:
        return []
    unlike = len({tuple(verdicts for verdicts in target.items()) for target in map(_by_access, found.values())}) > 1
    start = DIFFERS if unlike else "What was measured"
    texts = [f"{target} ({_accesses(_by_access(accesses))})" for target, accesses in found.items()]
    return [f"{start}: {'; '.join(texts)}."]


def _by_access(accesses: dict[str, dict[str, None]]) -> dict[str, str]:
    return {access: " or ".join(verdicts) for access, verdicts in accesses.items()}


def _accesses(verdicts: dict[str, str]) -> str:
    groups = grouped((verdict, access) for access, verdict in verdicts.items())
    return ", ".join(f"{listing(names)}: {verdict}" for verdict, names in groups.items())


def _flags(rows: Sequence[Row]) -> list[str]:
    counts = Counter(words for row in rows for words in dict.fromkeys(map(flag_words, row.flags)))
    texts = [f"{words} ({_share(count, len(rows))})" for words, count in counts.most_common()]
    if not texts:
        return []
    more = [f"{len(texts) - _MOST_FLAGS} more"] if len(texts) > _MOST_FLAGS else []
    return [f"Flags: {'; '.join([*texts[:_MOST_FLAGS], *more])}."]


def _share(count: int, total: int) -> str:
    if total == 1:
        return "the only row"
    return f"all {total:,} rows" if count == total else f"{count:,} of {total:,} rows"
