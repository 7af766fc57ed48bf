# SPDX-License-Identifier: Apache-2.0
"""What a part of the machine reaches: a line for each number that stands for it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Row, Summary
from ullage.quantity import DASH, format_known
from ullage.report.contents import Grid
from ullage.report.grids import Column, ceiling_hint, ceiling_text, grid_of, share_text, value_text
from ullage.report.tabs import Parts
from ullage.report.texts import NO_VERDICT
from ullage.report.verdicts import is_invalid


@dataclass(frozen=True)
class _Line:
    what: str
    row: Row


def reached(summary: Summary, parts: Parts, part: str) -> list[Grid]:
    """Return one table, without the columns that are empty; none where no number stands for ``part``."""
    lines = [_Line(line.what, summary.rows[line.row]) for line in parts.lines if parts.of_headline(line.part) == part]
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
    Column("of it", lambda line: share_text(line.row)),
    Column("really measured", _verdict, is_number=False),
    Column("grade", lambda line: line.row.grade or DASH, is_number=False),
)
