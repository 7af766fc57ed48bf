# SPDX-License-Identifier: Apache-2.0
"""``ullage clean``: remove what a crashed or kept run has left at a target."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ullage.cli.options import EngineOption
from ullage.errors import EXIT_ENVIRONMENT


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
    from ullage.cleaning import find_run_folders, remove
    from ullage.engine import find_engine
    from ullage.terminal import print_line
    from ullage.units import format_time

    folders = find_run_folders(_path(target), run)
    ours = [folder for folder in folders if folder.refused is None]
    for folder in folders:
        if folder.refused is not None:
            print_line(f"left alone  {folder.path}: {folder.refused}")
        else:
            print_line(f"a run's     {folder.path}: last changed {format_time(round(folder.age_s))} ago")
    if not ours:
        print_line("Nothing to remove.")
        return
    program = find_engine(engine)
    # A run may still be at work in its folder, so nothing is removed without a yes.
    question = f"Remove {len(ours)} folder{'s' if len(ours) > 1 else ''}?"
    if not yes and not (sys.stdin.isatty() and typer.confirm(question)):
        print_line("Nothing was removed. With --yes the folders above are removed without a question.")
        return
    left = False
    for folder in ours:
        reason = remove(program, folder)
        left = left or reason is not None
        print_line(f"removed     {folder.path}" if reason is None else f"not removed {folder.path}: {reason}")
    if left:
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


VERBS = (clean,)
