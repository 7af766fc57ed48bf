# SPDX-License-Identifier: Apache-2.0
"""What is printed on a terminal: tables and lines whose text may come from a machine, made harmless."""

import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Generator, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ullage.errors import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PLAIN_WIDTH: Final = 160
_NARROW: Final = 60
_LONGEST: Final = 2000
_NO_STYLES: Final[Mapping[str, str]] = MappingProxyType({})


def make_console() -> "Console":
    """Make a console on stdout; into a pipe or a file, which have no width, it writes plain, long lines."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH)


@contextlib.contextmanager
def paged() -> "Generator[Console]":
    """Yield a console whose output a pager shows, on a terminal alone: elsewhere it is ``make_console``.

    As git asks of it: ``less`` shows colours, ends by itself where all fits on one screen, and leaves it there.
    """
    console = make_console()
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        yield console
        return
    os.environ.setdefault("LESS", "FRX")
    with console.pager(styles=True):
        yield console


def _table(heads: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]], styles: Mapping[str, str]) -> "Table":
    """Make a table. ``heads``: text, and whether the column holds numbers. ``styles``: of cells by their text.

    Control characters are escaped, nothing is taken for markup, and what does not fit is folded, never cut.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading, is_number in heads:
        table.add_column(Text(one_line(heading)), justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(text), style=styles.get(text, "")) for text in row))
    return table


_BETWEEN: Final = 3
_EDGES: Final = 2


def print_fitting(
    console: "Console",
    heads: Sequence[tuple[str, bool]],
    rows: Sequence[Sequence[str]],
    styles: Mapping[str, str] = _NO_STYLES,
) -> None:
    """Print a table; where the terminal is too narrow for its longest words, each line as a list of its cells."""
    names = [one_line(name) for name, _ in heads]
    lines = [[one_line(text) for text in row] for row in rows]
    least = sum(max(_longest_word(line[at]) for line in [names, *lines]) + _BETWEEN for at in range(len(names)))
    if least - _BETWEEN + _EDGES <= console.width:
        console.print(_table(heads, rows, styles))
        return
    from rich.padding import Padding
    from rich.text import Text

    from ullage.quantity import DASH

    for line in lines:
        told = [f"{name} {text}".strip() for name, text in zip(names, line, strict=True) if text not in ("", DASH)]
        console.print(Padding(Text("; ".join(told)), (0, 0, 1, 0), expand=False))


def _longest_word(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split()), default=0)


def print_table(headers: Iterable[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of words on stdout."""
    print_fitting(make_console(), [(header, False) for header in headers], list(rows))


def print_line(text: str) -> None:
    """Print one line on stdout, with control characters escaped."""
    sys.stdout.write(one_line(text, limit=_LONGEST) + "\n")


def print_text(text: str) -> None:
    """Print sentences on stdout, folded between words where that is a terminal."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else _LONGEST
    for line in textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False) or [""]:
        print_line(line)


def folded(text: str, indent: str = "", first: str | None = None) -> list[str]:
    """Fold ``text`` into lines of 60 columns, with control characters escaped; none for an empty text."""
    known, start = one_line(text, _LONGEST), indent if first is None else first
    return textwrap.wrap(known, _NARROW, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False)
