# SPDX-License-Identifier: Apache-2.0
"""``ullage help`` and ``ullage version``: what ``--help`` and ``--version`` say, for whoever types a verb."""

from typing import Annotated

import typer


def help_(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]...", help="Help on this command, for example run sweep.")
    ] = None,
) -> None:
    """Show the help of ullage, or of one of its commands."""
    from ullage.cli.app import run

    raise typer.Exit(run([*(words or []), "--help"]))


def version() -> None:
    """Show the version."""
    from ullage.cli.app import run

    raise typer.Exit(run(["--version"]))


VERBS = (help_, version)
