# SPDX-License-Identifier: Apache-2.0
"""Tables and cards of the report that only some results have, one file each, found by walking this package.

A section's file sets ``SECTION = Section(...)``. Its ``build`` is pure: from what the result says to content, or to
None where it has nothing to say. HTML, terminal and Markdown show the same content.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ullage.report.data import ReportData
from ullage.report.table import Cell

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
    """Numbers that belong together, with every reason why they do not count. ``title`` may be empty."""

    title: str
    cards: Sequence[Card]
    reasons: Sequence[str]

    @property
    def valid(self) -> bool:
        """Whether all count."""
        return all(card.valid for card in self.cards)


@dataclass(frozen=True)
class Content:
    """What a section shows: cards, then ``notes`` as sentences, then tables."""

    cards: Sequence[Cards] = ()
    notes: Sequence[str] = ()
    grids: Sequence[Grid] = ()


@dataclass(frozen=True)
class Section:
    """``name`` is an anchor, ``title`` a heading, ``doc`` the sentence that says how to read it.

    ``order`` places it among the other sections and the charts. ``suite``: whose rows it shows with charts made for
    them, so that the general table of best settings and the general charts leave them out.
    """

    name: str
    title: str
    doc: str
    order: int
    build: Callable[[ReportData], Content | None]
    suite: str = ""


def load_sections() -> list[Section]:
    """All sections of this package, in the order of the report."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    sections: list[Section] = [importlib.import_module(f"{__name__}.{name}").SECTION for name in names]
    return sorted(sections, key=lambda section: (section.order, section.name))


def built_sections(data: ReportData) -> list[tuple[Section, Content]]:
    """The sections that have something to say of ``data``, with what they say."""
    return [(section, content) for section in load_sections() if (content := section.build(data)) is not None]
