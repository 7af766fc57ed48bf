# SPDX-License-Identifier: Apache-2.0
"""What the verbs print: tables and text from a machine, made harmless for a terminal."""

import sys
from collections.abc import Iterable, Sequence

from ullage.errors import one_line

_PLAIN_WIDTH = 160


def print_table(title: str, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on stdout; control characters of the cells are escaped and nothing in them is taken for markup."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(one_line(title)), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for header in headers:
        table.add_column(Text(header), overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    # Into a pipe or a file there is no terminal whose width counts: lines are long rather than folded.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH)
    console.print(table)


def print_line(text: str) -> None:
    """One harmless line on stdout."""
    sys.stdout.write(one_line(text, limit=2000) + "\n")
