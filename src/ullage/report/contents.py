# SPDX-License-Identifier: Apache-2.0
"""What a report is made of: sections of cards and tables, and charts. A module sets ``SECTIONS`` and ``CHARTS``.

Those that any result may have stand in ``report/sections`` and ``report/charts``, those of one suite in its
``report.py``. A ``build`` is pure: from what the result says to what is shown, or to nothing where it has nothing to
say. HTML, terminal and Markdown show the same content.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.discovery import gathered, modules_in, suite_modules
from ullage.model.summary import Row
from ullage.report.data import ReportData
from ullage.report.vega import Spec, with_config

# A spreadsheet reads a cell that begins like this as a formula, and passes over blanks before it.
_FORMULA: Final = re.compile(r"\s*[=+\-@]|[\t\r]")
_NUMBERS: Final = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?(;-?\d+(\.\d*)?(e[+-]?\d+)?)*", re.IGNORECASE)


def to_csv_text(lines: Iterable[Sequence[object]]) -> str:
    """Write ``lines`` as CSV.

    A text that a spreadsheet would execute gets an apostrophe in front of it, which it does not show. Numbers, and
    lists of numbers joined by ``;``, stay as they are, negative ones too.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_harmless(cell) for cell in line] for line in lines)
    return text.getvalue()


def _harmless(cell: object) -> object:
    if not isinstance(cell, str) or cell[:1].isalnum():
        return cell
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBERS.fullmatch(cell) else cell


@dataclass(frozen=True)
class Cell:
    """One cell of a table. ``css``, ``sort``, ``hint``, ``dot`` and ``bar`` (0 to 1) are for the page alone."""

    text: str
    css: str = ""
    sort: str = ""
    hint: str = ""
    dot: str = ""
    bar: float | None = None


def number_cell(text: str, *, css: str = "", sort: str = "", hint: str = "", bar: float | None = None) -> Cell:
    """Return a cell of a column of numbers."""
    return Cell(text, f"num {css}".strip(), sort, hint, bar=bar)


def peer_ratio(row: Row) -> float | None:
    """Return our median over the peer's, whatever direction is better; None without a peer or where that is 0."""
    return row.median / row.peer.median if row.peer and row.peer.median else None


LEAD = 0
"""Sections up to this order stand above the findings."""


@dataclass(frozen=True)
class Heading:
    """Head of a column."""

    heading: str
    is_number: bool = False


@dataclass(frozen=True)
class Grid:
    """A table whose rows have a cell for each of ``columns``. ``title`` may be empty."""

    title: str
    columns: Sequence[Heading]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Card:
    """One large number."""

    name: str
    value: str
    interval: str
    valid: bool


@dataclass(frozen=True)
class Cards:
    """Numbers that belong together, with every reason why they do not count. ``title`` may be empty.

    ``look``: they do not count only because less was asked for than the rules want. ``suite``: see ``Score``.
    """

    title: str
    cards: Sequence[Card]
    reasons: Sequence[str]
    look: bool = False
    suite: str = ""

    @property
    def valid(self) -> bool:
        """Whether all count."""
        return all(card.valid for card in self.cards)

    @property
    def stamp(self) -> str:
        """``VALID``, ``INVALID``, or that less was asked for on purpose."""
        if self.valid:
            return "VALID"
        return "not valid as a result" if self.look else "INVALID"


@dataclass(frozen=True)
class Content:
    """What a section shows: cards, then ``notes`` as sentences, then tables."""

    cards: Sequence[Cards] = ()
    notes: Sequence[str] = ()
    grids: Sequence[Grid] = ()


@dataclass(frozen=True)
class Section:
    """A section of a report.

    ``name`` is an anchor, ``title`` a heading, ``doc`` the sentence that says how to read it.

    ``order`` places it among the other sections and the charts. ``suite``: whose rows it shows with charts made for
    them, so that the general table of best settings and the general charts leave them out. ``part``: of the machine,
    whose tab of the page it stands in; empty: the part of the suite whose result it is.
    """

    name: str
    title: str
    doc: str
    order: int
    build: Callable[[ReportData], Content | None]
    suite: str = ""
    part: str = ""


@dataclass(frozen=True)
class Figure:
    """A Vega-Lite spec without title and configuration, and the words around it. ``wide`` takes a whole row.

    Where the spec is empty, ``caption`` says all numbers that a chart would show.
    """

    title: str
    caption: str
    spec: Spec
    wide: bool = False

    @property
    def is_linear(self) -> bool:
        """Whether the page's buttons can change the scale of its rates."""
        return '"zero": true' in json.dumps(self.spec)


@dataclass(frozen=True)
class Chart:
    """A kind of chart in a report.

    ``name`` is a file name and an anchor, ``title`` a heading, ``doc`` the sentence that says how to read it.

    ``part``: as of ``Section``.
    """

    name: str
    title: str
    doc: str
    order: int
    build: Callable[[ReportData], list[Figure]]
    part: str = ""


def load_sections(suites: Collection[str] | None = None) -> list[Section]:
    """Load the sections of any result and those of ``suites`` (None: of all), in the order of the report."""
    modules = [*modules_in("ullage.report.sections"), *suite_modules("report", suites)]
    sections: list[Section] = gathered(modules, "SECTIONS")
    return sorted(sections, key=lambda section: (section.order, section.name))


def load_charts(suites: Collection[str] | None = None) -> list[Chart]:
    """Load the charts of any result and those of ``suites`` (None: of all), in the order of the report."""
    modules = [*modules_in("ullage.report.charts"), *suite_modules("report", suites)]
    charts: list[Chart] = gathered(modules, "CHARTS")
    return sorted(charts, key=lambda chart: (chart.order, chart.name))


def built_sections(data: ReportData) -> list[tuple[Section, Content]]:
    """Build the sections that have something to say of ``data``; return them with what they say."""
    return [
        (section, content)
        for section in load_sections(data.summary.suites)
        if (content := section.build(data)) is not None
    ]


def documents(data: ReportData) -> Iterator[tuple[str, Spec]]:
    """Yield every figure as a document of its own, with title, caption and look inside, after a name for its file."""
    for chart in load_charts(data.summary.suites):
        for index, figure in enumerate(filter(lambda figure: bool(figure.spec), chart.build(data)), start=1):
            yield f"{chart.name}-{index:02}", with_config(figure.spec, f"{chart.title}: {figure.title}", figure.caption)
