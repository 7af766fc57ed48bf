# SPDX-License-Identifier: Apache-2.0
"""Lines of a screen of limited width and height: text with a style, folded at words, never wider than the screen."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.errors import one_line

WIDTH: Final = 100
_LONGEST: Final = 4000


@dataclass(frozen=True)
class Line:
    """One row of a screen. ``style`` is rich's."""

    text: str = ""
    style: str = ""


def cut(text: str, width: int) -> str:
    """Write ``text`` on one harmless line of at most ``width`` columns; what is cut off ends in dots."""
    known = one_line(text, _LONGEST)
    return known if columns(known) <= width else _head(known, width - 3) + "..."


def _head(text: str, width: int) -> str:
    """Return the longest beginning of ``text`` of at most ``width`` columns."""
    lengths = range(len(text) + 1)
    return text[: max(0, bisect_right(lengths, width, key=lambda length: columns(text[:length])) - 1)]


def columns(text: str) -> int:
    """Return how many columns a terminal needs for ``text``: some letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def folded(text: str, indent: str = "  ", first: str = "", most: int | None = None, style: str = "") -> list[Line]:
    """Fold ``text`` into rows of ``WIDTH`` columns; the first begins with ``first``, the others with ``indent``.

    Beyond ``most`` rows the last one ends in dots.
    """
    rows = _wrapped(one_line(text, _LONGEST), first or indent, indent)
    if most is not None and len(rows) > most:
        rows = [*rows[: most - 1], f"{_head(rows[most - 1], WIDTH - 4).rstrip()} ..."]
    return [Line(row, style) for row in rows]


def _wrapped(text: str, first: str, indent: str) -> list[str]:
    """Break at spaces, and within words wider than a row; ``textwrap`` takes all letters for one column wide."""
    rows, row, is_empty = list[str](), first, True
    for word in text.split(" "):
        left = word
        while left:
            room = WIDTH - columns(row) - (not is_empty)
            if columns(left) <= room:
                row, is_empty, left = f"{row}{'' if is_empty else ' '}{left}", False, ""
            elif is_empty:
                head = _head(left, room)
                rows.append(row + head)
                row, left = indent, left[len(head) :]
            else:
                rows.append(row)
                row, is_empty = indent, True
    return rows if is_empty and rows else [*rows, row]


def rows_of(text: str) -> int:
    """Return how many rows ``folded`` makes of ``text``."""
    return len(folded(text))


def total(groups: Sequence[Sequence[Line]]) -> int:
    """Count the rows of all groups, and the empty ones between them."""
    filled = [group for group in groups if group]
    return sum(map(len, filled)) + max(len(filled) - 1, 0)
