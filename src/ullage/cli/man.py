# SPDX-License-Identifier: Apache-2.0
"""``ullage man``: the manual pages, made of the help texts."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    group = typer.Typer(help="Install or print the manual pages.", no_args_is_help=True, rich_markup_mode=None)
    group.command()(install)
    group.command()(show)
    app.add_typer(group, name="man")


def install(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="DIR",
            help="Write the pages below this folder. Default: ~/.local/share/man, which man searches.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write the pages, so that `man ullage` shows them.

    There is one page for ullage, and one for each suite, for example `man ullage-run-sweep`.
    """
    from ullage.results.folder import write_atomically
    from ullage.terminal import print_line

    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    section = (folder or data / "man") / "man1"
    pages = _pages()
    for name, text in pages.items():
        write_atomically(section / f"{name}.1", text)
    print_line(f"written  {len(pages)} pages in {section}")
    print_line(f"If `man ullage` finds no page, use: man -l {section / 'ullage.1'}")


def show(
    page: Annotated[
        str, typer.Argument(metavar="PAGE", help="Print this page: ullage or ullage-run-SUITE.")
    ] = "ullage",
) -> None:
    """Print a page in roff, for example for `man -l -`."""
    from ullage.errors import UserError
    from ullage.parameters import suggest

    pages = _pages()
    if page not in pages:
        raise UserError(f"there is no manual page '{page}'", "PAGE", suggest(page, pages))
    typer.echo(pages[page], nl=False)


def _pages() -> Mapping[str, str]:
    from ullage.cli.app import make_app
    from ullage.cli.command_tree import commands
    from ullage.cli.manual_page import manual_pages

    return manual_pages(commands(make_app()))
