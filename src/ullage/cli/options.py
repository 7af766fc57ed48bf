# SPDX-License-Identifier: Apache-2.0
"""Options that several verbs share. Those of suites are fields of their models: see ``ullage.runs.options``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.runs.lifecycle import Shown


def complete_results(incomplete: str) -> list[str]:
    """Return the result folders whose path begins with ``incomplete``.

    They are those in the folder it names, and those of `ullage run`.
    """
    from ullage.results.folder import DEFAULT_PARENT, is_result

    named = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    places = [named] if "/" in incomplete else [named, DEFAULT_PARENT]
    found = {str(path) for place in places if place.is_dir() for path in place.iterdir() if is_result(path)}
    return sorted(path for path in found if path.startswith(incomplete.removeprefix("./")))


def complete_launchers(incomplete: str) -> list[str]:
    """Return the words for ``--launcher`` that begin with ``incomplete``."""
    from ullage.launch import batch_systems, launcher_names

    systems = sorted(batch_systems())
    jobs = [*systems, "script", *(f"script:{name}" for name in systems)]
    return [name for name in ["auto", *launcher_names(), *jobs] if name.startswith(incomplete)]


EngineOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Use this engine. Default: $ULLAGE_ENGINE, otherwise the engine installed with ullage.",
        show_default=False,
    ),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LauncherOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=complete_launchers,
        help="Start the engine by auto (the batch job's own command, else the mpiexec of its MPI), "
        "<launchers>. <systems> submits a job and follows it. "
        "script writes batch scripts instead, of Slurm or of the site's batch system. script:pbs names one.",
    ),
]
AccountOption: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME", help="Charge the batch job to this account.", show_default=False)
]
QueueOption: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME", help="Submit the batch job to this queue (partition).", show_default=False)
]
WalltimeOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="Limit the batch job to this time: 00:30:00. Slurm also takes its own words.",
        show_default=False,
    ),
]
PpnOption: TypeAlias = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="COUNT",
        help="Ask for this many processors on each node of the batch job. Default: what the batch system gives.",
        show_default=False,
    ),
]
ReservationOption: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME", help="Run the batch job in this reservation.", show_default=False)
]
ConstraintOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="WORDS",
        help="Run the batch job on nodes of this kind, as the batch system writes it: amd (Slurm), cpu=amd (PBS).",
        show_default=False,
    ),
]
ExclusiveOption: TypeAlias = Annotated[
    bool, typer.Option("--exclusive/--no-exclusive", help="Keep other people's batch jobs off the nodes of this one.")
]
ChainOption: TypeAlias = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="JOBS",
        help="Submit the rest as another job when one ends before the run is complete. At most this many follow.",
        show_default=False,
    ),
]
ExtraOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--extra",
        metavar="WORD",
        help="Add this option of the batch system to the batch job, for example --extra=--exclude=n17 (Slurm). "
        "Repeat it for more.",
        show_default=False,
    ),
]
SiteOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--site",
        metavar="FILE",
        help="Take defaults of batch jobs from this TOML file. Default: ~/.config/ullage/site.toml, if there is one.",
        show_default=False,
    ),
]
SpareNodesOption: TypeAlias = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="COUNT",
        help="Keep this many nodes of the batch job, or of --hosts, free. One of them takes the place of a node that "
        "fails. A job that is submitted asks for that many more.",
        show_default=False,
    ),
]
ExcludeOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="A,B", help="Use none of these nodes, neither of a batch job nor of --hosts.", show_default=False
    ),
]
StageOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Copy the engine to this folder of each node before the run, for example /tmp, and remove it afterwards. "
        "Slurm copies it (sbcast).",
        show_default=False,
    ),
]
HostsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C",
        help="Use these nodes, this one first, if no batch system has chosen nodes. Commands on "
        "them are started by $ULLAGE_RSH_AGENT, otherwise by ssh or the MPI's own agent.",
        show_default=False,
    ),
]
ResultArgument: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT",
        autocompletion=complete_results,
        help="Read this result folder. `ullage run` prints the folder at its end.",
        show_default=False,
    ),
]
AllOption: TypeAlias = Annotated[
    bool, typer.Option("--all", help="Print everything at the end, paged by part, instead of one screen.")
]
QuietOption: TypeAlias = Annotated[
    bool, typer.Option("--quiet", help="Print the path of the result, and nothing else.")
]
ResultOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--result",
        metavar="DIR",
        help="Write the result into this new folder. Default: ullage-results/RUN_ID.",
        show_default=False,
    ),
]


def shown_at_end(*, everything: bool, quiet: bool) -> "Shown":
    """Return what a run prints at its end; raise ``UserError`` for both at once."""
    if everything and quiet:
        raise UserError("one excludes the other", "--all --quiet", "give one of them")
    return "all" if everything else "path" if quiet else "screen"
