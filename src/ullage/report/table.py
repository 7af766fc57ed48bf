# SPDX-License-Identifier: Apache-2.0
"""Cells of tables, and tables as CSV that no spreadsheet executes."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Row

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
