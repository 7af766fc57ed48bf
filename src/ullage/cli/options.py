# SPDX-License-Identifier: Apache-2.0
"""Options that several verbs share. Those of suites are fields of their models: see ``ullage.runs.options``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.runs.lifecycle import Shown

EngineOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="The engine to use. Default: $ULLAGE_ENGINE, else the one that is installed with this.", show_default=False
    ),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LauncherOption: TypeAlias = Annotated[
    str,
    typer.Option(help="auto (the mpiexec of the engine's MPI), open-mpi, mpich, or script (Slurm batch scripts)."),
]
HostsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C",
        help="Nodes to use where no batch system has chosen them, this one first. What $ULLAGE_RSH_AGENT names starts "
        "commands there; default: ssh, or what the MPI prefers.",
        show_default=False,
    ),
]
ResultArgument: TypeAlias = Annotated[
    Path, typer.Argument(help="Folder that `ullage run` has printed.", show_default=False)
]
AllOption: TypeAlias = Annotated[
    bool, typer.Option("--all", help="Print everything at the end, paged by part, instead of one screen.")
]
QuietOption: TypeAlias = Annotated[
    bool, typer.Option("--quiet", help="Print the path of the result, and nothing else.")
]


def shown_at_end(*, everything: bool, quiet: bool) -> "Shown":
    """What a run prints at its end. ``UserError`` for both at once."""
    if everything and quiet:
        raise UserError("one excludes the other", "--all --quiet", "give one of them")
    return "all" if everything else "path" if quiet else "screen"
