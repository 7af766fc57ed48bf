# SPDX-License-Identifier: Apache-2.0
"""What of a report stands under which part of the machine: charts, tables, scores, findings and rows. Pure.

A section or a chart says its part itself; a suite has the part of its section, or that of most of its headlines.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ullage.analysis.settings import phase_of
from ullage.model.summary import Finding, Headline, Row, Summary
from ullage.quantity import DASH, format_known
from ullage.report.contents import Cards, Chart, Content, Figure, Grid, Section, load_sections
from ullage.report.grids import Column, ceiling_hint, ceiling_text, grid_of, share_text, value_text
from ullage.report.headlines import ACCELERATORS, IN_MEMORY, Rule, Vessel, headlines_of, load_headline_rules
from ullage.report.texts import NO_VERDICT, by_severity
from ullage.report.verdicts import is_invalid

TITLES: Final[Mapping[str, str]] = {
    **{part: part.capitalize() for part in ("cores", "memory", "disk", "metadata", "messages", "network", "noise")},
    ACCELERATORS: "Accelerators",
    "other": "Results",
}
OTHER: Final = "other"
_OF_VESSELS: Final = {"disk writes": "disk", "disk reads": "disk", IN_MEMORY: "disk"}


@dataclass(frozen=True)
class Drawn:
    """A chart with its figures, by the names of their places."""

    chart: Chart
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Tab:
    """A part of the machine: charts first, then tables, then what was found."""

    part: str
    charts: Sequence[Drawn]
    scores: Sequence[Cards]
    sections: Sequence[tuple[Section, Content]]
    findings: Sequence[Finding]

    @property
    def title(self) -> str:
        """The title as it stands on the tab."""
        return TITLES[self.part]

    @property
    def docs(self) -> list[tuple[str, str]]:
        """Titles with how to read what they are over, each once."""
        said = [(drawn.chart.title, drawn.chart.doc) for drawn in self.charts]
        said += [(section.title, section.doc) for section, _ in self.sections]
        return list(dict.fromkeys(said))


class Parts:
    """Which part of the machine a suite, a row and a vessel of ``summary`` belong to."""

    def __init__(self, summary: Summary) -> None:
        self._summary = summary
        self._rules: list[Rule] = load_headline_rules(summary.suites)

    @cached_property
    def lines(self) -> list[Headline]:
        """The rows that stand for the parts of the machine."""
        return headlines_of(self._summary)

    @cached_property
    def _of_suites(self) -> dict[str, str]:
        found = {
            section.suite: section.part
            for section in load_sections(self._summary.suites)
            if section.suite and section.part
        }
        for part in self._summary.parts:
            found.setdefault(part.suite, _most(line.part for line in part.headlines))
        if not self._summary.parts:
            found.setdefault(self._summary.suite, _most(line.part for line in self.lines))
        return found

    def of_suite(self, suite: str) -> str:
        """Return the part of ``suite``; ``other`` for an unknown one. Empty stands for the suite of the result."""
        found = self._of_suites.get(suite or self._summary.suite, OTHER)
        return found if found in TITLES else OTHER

    @property
    def usual(self) -> str:
        """The part of sections and charts of any result: storage for a result made of several suites."""
        return "disk" if self._summary.parts else self.of_suite("")

    def of(self, named: Section | Chart) -> str:
        """Return the part in whose tab a section or chart stands."""
        return named.part or self.usual

    def of_rows(self, rows: Sequence[Row]) -> list[str]:
        """Return the part of each row: by the rules of headlines, by another row of the same case, or by the suite."""
        cases: dict[tuple[str, str], str] = {}
        found = [self._by_rule(row) for row in rows]
        for row, part in zip(rows, found, strict=True):
            if part and row.case:
                cases.setdefault((row.suite, row.case), part)
        pairs = zip(rows, found, strict=True)
        return [part or cases.get((row.suite, row.case)) or self._by_suite(row) for row, part in pairs]

    def _by_rule(self, row: Row) -> str:
        rule = next((rule for rule in self._rules if rule.metric == row.metric and rule.applies(row)), None)
        return rule.part if rule is not None and rule.part in TITLES else ""

    def _by_suite(self, row: Row) -> str:
        part = self.of_suite(row.suite)
        return "disk" if part == "metadata" and row.unit == "B/s" and phase_of(row) else part

    def of_headline(self, part: str) -> str:
        """Return the tab of the part that a rule of headlines names."""
        found = _OF_VESSELS.get(part, part)
        return found if found in TITLES else OTHER

    def of_vessel(self, vessel: Vessel) -> str:
        """Return the tab that a click on a vessel goes to."""
        part = _OF_VESSELS.get(vessel.part, vessel.part)
        return part if part in TITLES else self.of_suite(vessel.row.suite)


def _most(parts: Iterable[str]) -> str:
    counted = Counter(_OF_VESSELS.get(part, part) for part in parts).most_common(1)
    return counted[0][0] if counted else OTHER


def tabs(
    summary: Summary,
    parts: Parts,
    charts: Sequence[Drawn],
    sections: Sequence[tuple[Section, Content]],
    scores: Sequence[Cards],
) -> list[Tab]:
    """Return the tabs that have something to show, in a fixed order.

    Findings go to the part of their suite, warnings first.
    """
    found: list[Tab] = []
    for part in TITLES:
        tab = Tab(
            part,
            [drawn for drawn in charts if parts.of(drawn.chart) == part],
            [cards for cards in scores if parts.of_suite(cards.suite) == part],
            [(section, content) for section, content in sections if parts.of(section) == part],
            by_severity(one for one in summary.findings if parts.of_suite(one.suite) == part),
        )
        if tab.charts or tab.scores or tab.sections or tab.findings:
            found.append(tab)
    return found


@dataclass(frozen=True)
class _Line:
    what: str
    row: Row


def reached(summary: Summary, parts: Parts, part: str) -> list[Grid]:
    """Return one table, without the columns that are empty; none where no number stands for ``part``.

    Phases of a benchmark stand with their score, too, whatever part of the machine they are of.
    """
    known = [(line, summary.rows[line.row]) for line in parts.lines]
    lines = [
        _Line(line.what, row)
        for line, row in known
        if part == parts.of_headline(line.part) or (phase_of(row) and part == parts.of_suite(row.suite))
    ]
    return grid_of("What it reaches", _COLUMNS, lines)


def _verdict(line: _Line) -> str:
    if is_invalid(line.row):
        return "INVALID"
    return DASH if line.row.verdict == NO_VERDICT else line.row.verdict


def _ceiling_kind(line: _Line) -> str:
    ceiling = line.row.ceiling
    return DASH if ceiling is None or line.row.is_beside_best else ceiling.kind


_COLUMNS: Final[Sequence[Column[_Line]]] = (
    Column("what", lambda line: line.what, is_number=False),
    Column("reaches", lambda line: value_text(line.row), hint=lambda line: "; ".join(line.row.reasons), css="median"),
    Column("interval or range", lambda line: format_known(line.row) or DASH),
    Column("ceiling", lambda line: ceiling_text(line.row), hint=lambda line: ceiling_hint(line.row)),
    Column("its kind", _ceiling_kind, is_number=False),
    Column("of it", lambda line: DASH if line.row.grade == "C" else share_text(line.row)),
    Column("really measured", _verdict, is_number=False),
    Column("grade", lambda line: line.row.grade or DASH, is_number=False),
)
