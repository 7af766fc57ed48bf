# SPDX-License-Identifier: Apache-2.0
"""Options that several verbs share. Those of suites are fields of their models: see ``ullage.runs.options``."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

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
