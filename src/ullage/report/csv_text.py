# SPDX-License-Identifier: Apache-2.0
"""Rows as CSV whose cells a spreadsheet takes for what they are: numbers, or text that it does not execute."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Final

# What makes a spreadsheet read a cell as a formula; blanks before it are passed over there.
_FORMULA: Final = re.compile(r"\s*[=+\-@]|[\t\r]")
_NUMBERS: Final = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?(;-?\d+(\.\d*)?(e[+-]?\d+)?)*", re.IGNORECASE)


def to_csv_text(lines: Iterable[Sequence[object]]) -> str:
    """One line each. A text that a spreadsheet would execute gets an apostrophe in front of it, which it does not show.

    Numbers, and lists of numbers joined by ``;``, stay as they are, negative ones too.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_harmless(cell) for cell in line] for line in lines)
    return text.getvalue()


def _harmless(cell: object) -> object:
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBERS.fullmatch(cell):
        return f"'{cell}"
    return cell
