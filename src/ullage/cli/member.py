# SPDX-License-Identifier: Apache-2.0
"""``ullage member``: the run of one node, started by ``ullage run SUITE --each-node``. People do not type it."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``, without a line in its help."""
    app.command(name="member", hidden=True)(member)


def member(
    folder: Annotated[Path, typer.Argument(metavar="RESULT")],
    engine: Annotated[Path, typer.Option(metavar="FILE")],
    launcher: Annotated[str, typer.Option(metavar="NAME")] = "auto",
    index: Annotated[int, typer.Option(min=0, metavar="N")] = 0,
    keep: Annotated[str, typer.Option(metavar="NAMES")] = "",
) -> None:
    """Measure one node of a run of each node, as told by standard input."""
    import os

    from ullage.runs.members.member import leave_job, measure_here
    from ullage.runs.summary import build_summary

    leave_job(os.environ, keep.split(","))
    raise typer.Exit(measure_here(folder, engine, launcher, index, build_summary))
