# SPDX-License-Identifier: Apache-2.0
"""The one picture of a suite's answer: numbers side by side, where the vessels of one machine do not show it. Pure.

A suite's ``AnswerRule`` names its own; of others each target stands beside the others, in each kind of number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.grouping import grouped
from ullage.model.summary import Row, Summary
from ullage.quantity import DASH, format_known, format_share
from ullage.report.contents import Grid
from ullage.report.grids import Column, grid_of, value_text
from ullage.report.headlines import IN_MEMORY, headlines_of, part_of_vessel
from ullage.report.texts import LONGEST_NAME, inert

MOST_BARS: Final = 14


@dataclass(frozen=True)
class Bar:
    """A row with the words beside its bar, and its value as text. ``longest``: the value that fills the whole bar."""

    label: str
    row: Row
    value: str
    longest: float
    of_ceiling: bool = False

    @property
    def length(self) -> float:
        """What is drawn of the longest bar, from 0 to 1."""
        value = (self.row.share or 0.0) if self.of_ceiling else self.row.median
        return min(max(value / self.longest, 0.0), 1.0) if self.longest > 0 else 0.0

    @property
    def remark(self) -> str:
        """Why the number does not count; empty where it does."""
        return "INVALID" if self.row.is_invalid else "grade C" if self.row.grade == "C" else ""


@dataclass(frozen=True)
class Bars:
    """Bars of one unit under a title, which says what they show."""

    title: str
    bars: tuple[Bar, ...]


def bars(
    title: str, rows: Sequence[tuple[str, Row]], show: Callable[[Row], str] = value_text, *, of_ceiling: bool = False
) -> list[Bars]:
    """Return ``rows`` with their labels as one group of bars; none without rows. ``of_ceiling``: drawn by share."""
    longest = 1.0 if of_ceiling else max((row.median for _, row in rows), default=0.0)
    made = tuple(Bar(label, row, show(row), longest, of_ceiling) for label, row in rows)
    return [Bars(title, made)] if made else []


def side_by_side(summary: Summary) -> list[Bars]:
    """Return the best row of each target in each kind of number; nothing for one target, or for a machine's parts."""
    if len({row.target for row in summary.rows}) < 2 or summary.parts or summary.nodes is not None:
        return []
    lines = [(line, summary.rows[line.row]) for line in headlines_of(summary)]
    # A file system in memory is a target beside the disk.
    kinds = grouped(
        ((part_of_vessel("disk" if line.part == IN_MEMORY else line.part, row), row.metric, row.unit), (line.what, row))
        for line, row in lines
    )
    found = [
        group
        for (part, _, _), rows in kinds.items()
        if len({row.target for _, row in rows}) > 1
        for group in bars(_title(part, rows[0][1]), rows)
    ]
    return found if sum(len(group.bars) for group in found) <= MOST_BARS else found[:2]


def _title(part: str, row: Row) -> str:
    return f"{part[:1].upper()}{part[1:]}, the best of each target{'' if row.better == 'more' else ' (less is better)'}"


def bars_grids(groups: Sequence[Bars]) -> list[Grid]:
    """Return each group as a table with a bar beside each value, without the columns that are empty."""
    return [grid for group in groups for grid in grid_of(group.title, _COLUMNS, group.bars)]


_COLUMNS: Final[Sequence[Column[Bar]]] = (
    Column("what", lambda bar: inert(bar.label, LONGEST_NAME), is_number=False, css="what"),
    Column(
        "reaches",
        lambda bar: bar.value,
        is_number=False,
        css=lambda bar: "doubtful" if bar.remark else "",
        bar=lambda bar: bar.length,
    ),
    Column("interval or range", lambda bar: format_known(bar.row) or DASH, is_number=False),
    Column("of its ceiling", lambda bar: DASH if bar.row.share is None else format_share(bar.row.share)),
    Column("remark", lambda bar: bar.remark or DASH, is_number=False),
)
