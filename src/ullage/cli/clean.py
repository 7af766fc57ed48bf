# SPDX-License-Identifier: Apache-2.0
"""``ullage clean``: remove what a crashed or kept run has left at a target."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ullage.cli.options import EngineOption
from ullage.errors import EXIT_ENVIRONMENT

if TYPE_CHECKING:
    from ullage.cleaning import RunFolder


def clean(
    target: Annotated[
        str, typer.Argument(metavar="PATH|NAME=PATH", help="Clean this target, written as it was for the run.")
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking.")] = False,
    run: Annotated[str | None, typer.Option(metavar="RUN_ID", help="Remove only the folder of this run.")] = None,
    engine: EngineOption = None,
) -> None:
    """Remove the folders that runs have left at a target.

    Only files that the manifests in these folders list are removed.
    """
    from ullage.cleaning import find_run_folders
    from ullage.engine import find_engine
    from ullage.terminal import print_line

    folders = find_run_folders(_path(target), run)
    ours = [folder for folder in folders if folder.refused is None]
    for folder in folders:
        print_line(_line(folder))
    if not ours:
        print_line("Nothing to remove.")
        return
    program = find_engine(engine)
    if not yes and not _agreed(len(ours)):
        print_line("Nothing was removed. With --yes the folders above are removed without a question.")
        return
    if _remove_all(program, ours):
        raise typer.Exit(EXIT_ENVIRONMENT)


def _path(target: str) -> Path:
    from ullage.errors import UserError
    from ullage.uri import parse_target, target_path

    if "=" not in target.partition("/")[0]:
        return Path(target).absolute()
    path = target_path(parse_target(target))
    if path is None:
        raise UserError(
            "the target has no path, so no run left anything there", f"'{target}'", "name a target with a path"
        )
    return path


def _line(folder: "RunFolder") -> str:
    from ullage.units import format_time

    if folder.refused is not None:
        return f"left alone  {folder.path}: {folder.refused}"
    return f"a run's     {folder.path}: last changed {format_time(round(folder.age_s))} ago"


def _agreed(count: int) -> bool:
    """Ask first: a run may still be at work in its folder, so nothing is removed without a yes."""
    return sys.stdin.isatty() and typer.confirm(f"Remove {count} folder{'s' if count > 1 else ''}?")


def _remove_all(engine: Path, folders: "list[RunFolder]") -> bool:
    """Remove ``folders``, and return whether something was left."""
    from ullage.cleaning import remove
    from ullage.terminal import print_line

    left = False
    for folder in folders:
        reason = remove(engine, folder)
        left = left or reason is not None
        print_line(f"removed     {folder.path}" if reason is None else f"not removed {folder.path}: {reason}")
    return left


VERBS = (clean,)
