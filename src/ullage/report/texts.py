# SPDX-License-Identifier: Apache-2.0
"""The sentences above the tables, the same in HTML, Markdown and terminal: what was run, and what it is worth.

Texts from a machine are made inert: they neither break the layout of a page nor have a character that it would act on.
That nothing of them becomes markup is the work of the template and of ``script_json``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, cast

from ullage.analysis.settings import access_of, phase_of, separating_keys, sort_key, values_by_key
from ullage.grouping import grouped
from ullage.harmless import harmless
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row
from ullage.quantity import format_param, listing, param_label, plural
from ullage.report.data import ReportData
from ullage.report.facts import text_of
from ullage.report.verdicts import headword, is_invalid
from ullage.report.view import View

LONGEST: Final = 1200
"""A sentence has at most this many characters. A hash tells texts apart that were cut."""
LONGEST_NAME: Final = 80
LONGEST_HEADING: Final = 240


def inert(text: str, longest: int = LONGEST) -> str:
    """Make ``text`` harmless; cut it above ``longest`` and end it in its hash."""
    if len(text) > longest:
        mark = sha256(text.encode(errors="replace")).hexdigest()[:6]
        text = f"{text[: longest - 10]}… #{mark}"
    return harmless(text)


def inert_json(value: object) -> object:
    """Make all texts of ``value`` inert, keys too: equal texts stay equal, different ones different."""
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, list):
        return [inert_json(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {inert(key): inert_json(item) for key, item in cast("dict[str, object]", value).items()}
    return value


_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
_MOST_NAMED: Final = 8
# The sentence with which an event ends that was met more than once.
_OFTEN: Final = re.compile(r" This happened \d+ times\.$")
_AXIS_NOUNS: Final = {"ranks": "rank count", "nodes": "node count", "block_bytes": "block size", "backend": "backend"}
NO_GRADE: Final = "not graded"
NO_VERDICT: Final = "none"
UNKNOWN_GRADE: Final = "not known whether other programs used the machine"


def title(data: ReportData) -> str:
    """Write ``sweep of nvme and scratch``, or ``overview of 12 suites`` for a run made of suites."""
    targets = data.view.targets
    suite = data.summary.suite
    if data.summary.parts:
        return f"{suite} of {plural(len(data.summary.parts), 'suite')}"
    return suite if targets in ([], [suite]) else f"{suite} of {listing(targets, 4)}"


def host(data: ReportData) -> str:
    """Return the name of the machine, of several nodes their number and names; empty when it is not known."""
    nodes = data.summary.nodes
    if nodes is None:
        return text_of(data.summary.system, "host")
    names = [node.name for node in nodes.nodes]
    return f"{plural(len(names), 'node')} ({listing(names, 4)})" if len(names) > 1 else names[0]


def scope(view: View) -> str:
    """Write ``2 targets, 4 rank counts (1, 2, 4, 8), 7 block sizes (128K to 8M), write and read``.

    What suites with tables of their own have varied is said there.
    """
    rows = [row for row in view.summary.rows if not view.has_own(row)]
    parts = [plural(len(view.targets), "target")] if view.summary.rows else []
    told = separating_keys(rows, lambda row: (phase_of(row),))
    every = view.values if len(rows) == len(view.summary.rows) else values_by_key(rows)
    for key, values in every.items():
        ordered = sorted(values, key=sort_key)
        if len(ordered) > 1 and key not in {"access", "phase"} and key in told:
            parts.append(f"{_counted(key, len(ordered))} ({_span(key, ordered)})")
        elif len(ordered) == 1 and key in {"ranks", "block_bytes"}:
            parts.append(f"{param_label(key)} {format_param(key, ordered[0])}")
    phases = {phase_of(row) for row in rows} - {""}
    accesses = list(dict.fromkeys(filter(None, (access_of(row) for row in rows if not phase_of(row)))))
    named = [plural(len(phases), "phase")] if phases else []
    return ", ".join([*parts, *named, *([listing(accesses, 6)] if accesses else [])])


def _counted(key: str, count: int) -> str:
    noun = _AXIS_NOUNS.get(key)
    return plural(count, noun) if noun else f"{count} values of {param_label(key)}"


def _span(key: str, ordered: Sequence[Scalar]) -> str:
    texts = [format_param(key, value) for value in ordered]
    return ", ".join(texts) if len(texts) <= 4 else f"{texts[0]} to {texts[-1]}"


def grade_counts(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """Count rows by contamination grade, A first."""
    return sorted(Counter(row.grade or NO_GRADE for row in rows).items(), key=lambda found: (found[0] == "?", found))


def verdict_line(rows: Sequence[Row]) -> str:
    """Say in one sentence what was really measured and how clean the machine was.

    Verdicts are counted of what moved bytes to or from storage: of other numbers nobody asks where bytes came from.
    """
    if not rows:
        return "No row was measured."
    grades = ", ".join(f"{count:,} {name}" for name, count in grade_counts(rows))
    unknown = f" (?: {UNKNOWN_GRADE})" if any(row.grade == "?" for row in rows) else ""
    single = sum(row.low is None for row in rows)
    tail = f" {plural(single, 'row')} of one sample, without an interval." if single else ""
    return f"{_judged(rows)}. Contamination grade: {grades}{unknown}.{tail}"


def _judged(rows: Sequence[Row]) -> str:
    found = [row for row in rows if headword(row) != NO_VERDICT]
    phases = {_phase(row) for row in found if row.unit == "B/s"}
    moved = [row for row in found if _phase(row) in phases]
    counts = Counter(headword(row) for row in moved).most_common(_MOST_NAMED)
    verdicts = ", ".join(f"{count:,} {name}" for name, count in counts)
    if len(moved) == len(rows):
        return f"Of {plural(len(rows), 'row')}: {verdicts}"
    invalid = sum(is_invalid(row) for row in rows) - sum(is_invalid(row) for row in moved)
    said = f"{plural(len(rows), 'row')}{f' ({invalid:,} of others INVALID)' if invalid and moved else ''}"
    if moved:
        return f"{said}, of which {len(moved):,} moved bytes: {verdicts}"
    return f"{said}, {invalid:,} INVALID" if invalid else said


def _phase(row: Row) -> tuple[str, str, str, str]:
    return row.suite, row.target, row.case, access_of(row)


def finding_groups(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """Group findings by kind, and by suite where there are several; in the order in which they are first named."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        kind = f"{finding.suite}: {finding.kind}" if finding.suite else finding.kind
        groups.setdefault(kind, []).append(finding)
    return list(groups.items())


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Sort by severity, warnings first; equal ones keep their order."""
    return sorted(findings, key=lambda finding: ("warning", "advice", "info").index(finding.severity))


def events_once(events: Sequence[Finding]) -> list[Finding]:
    """Merge events of several suites that say the same, warnings first. Each ends with its count and its suites."""
    groups = grouped(((event.kind, event.severity, _OFTEN.sub("", event.text)), event) for event in events)
    return by_severity(_merged(text, group) for (_, _, text), group in groups.items())


def _merged(text: str, group: Sequence[Finding]) -> Finding:
    suites = list(dict.fromkeys(event.suite for event in group if event.suite))
    often = sum(_count(event) for event in group)
    times = f" This happened {often} times" if often > 1 else " This happened" if suites else ""
    where = f" in {listing(suites)}" if suites else ""
    return group[0].model_copy(update={"text": f"{text}{times}{where}." if times else text})


def _count(event: Finding) -> int:
    count = event.numbers.get("count")
    return count if isinstance(count, int) else 1


def escape(text: str) -> str:
    """Return ``text`` on one line, with nothing in it that Markdown, HTML or a terminal would act on."""
    return _SPECIAL.sub(r"\\\1", inert(" ".join(text.split())))
