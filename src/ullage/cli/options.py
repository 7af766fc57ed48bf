# SPDX-License-Identifier: Apache-2.0
"""Options that several verbs share, and the parameters of a command for typer, made of an options model."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, cast

import typer

from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.runs.lifecycle import Shown
    from ullage.runs.options.declared import Declared
    from ullage.runs.options.model import SuiteOptions

CAMPAIGN: Final = "ULLAGE_CAMPAIGN"


def complete_results(incomplete: str) -> list[str]:
    """Return the result folders there, and of `ullage run`, whose path begins with ``incomplete``."""
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


def option(text: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - typer's own are not exported
    """Return an option whose default needs no word beside its help ``text``."""
    return typer.Option(*names, help=text, show_default=False, **more)


def count(text: str, metavar: str = "COUNT") -> Any:  # noqa: ANN401 - typer's own are not exported
    """Return an option of a number from 0."""
    return option(text, min=0, metavar=metavar)


EngineOption: TypeAlias = Annotated[
    Path | None,
    option("Use this engine. Default: $ULLAGE_ENGINE, otherwise the engine installed with ullage.", metavar="FILE"),
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
    option("Write the result into this new folder. Default: ullage-results/RUN_ID.", "--result", metavar="DIR"),
]


def _options_of_runs(
    result: ResultOption = None,
    launcher: LauncherOption = "auto",
    engine: EngineOption = None,
    hosts: Annotated[
        str | None,
        option(
            "Use these nodes, this one first, if no batch system has chosen nodes. Commands on "
            "them are started by $ULLAGE_RSH_AGENT, otherwise by ssh or the MPI's own agent.",
            metavar="A,B,C",
        ),
    ] = None,
    account: Annotated[str, option("Charge the batch job to this account.", metavar="NAME")] = "",
    queue: Annotated[str, option("Submit the batch job to this queue (partition).", metavar="NAME")] = "",
    walltime: Annotated[
        str, option("Limit the batch job to this time: 00:30:00. Slurm also takes its own words.", metavar="TIME")
    ] = "",
    ppn: Annotated[
        int, count("Ask for this many processors on each node of the batch job. Default: what the batch system gives.")
    ] = 0,
    reservation: Annotated[str, option("Run the batch job in this reservation.", metavar="NAME")] = "",
    constraint: Annotated[
        str,
        option(
            "Run the batch job on nodes of this kind, as the batch system writes it: amd (Slurm), cpu=amd (PBS).",
            metavar="WORDS",
        ),
    ] = "",
    exclusive: Annotated[
        bool,
        typer.Option("--exclusive/--no-exclusive", help="Keep other people's batch jobs off the nodes of this one."),
    ] = True,
    chain: Annotated[
        int,
        count(
            "Submit the rest as another job when one ends before the run is complete. At most this many follow.", "JOBS"
        ),
    ] = 0,
    spare_nodes: Annotated[
        int,
        count(
            "Keep this many nodes of the batch job, or of --hosts, free. One of them takes the place of a node that "
            "fails. A job that is submitted asks for that many more."
        ),
    ] = 0,
    exclude: Annotated[
        str | None, option("Use none of these nodes, neither of a batch job nor of --hosts.", metavar="A,B")
    ] = None,
    stage: Annotated[
        Path | None,
        option(
            "Copy the engine to this folder of each node before the run, for example /tmp, and remove it afterwards. "
            "Slurm copies it (sbcast).",
            metavar="DIR",
        ),
    ] = None,
    extra: Annotated[
        list[str] | None,
        option(
            "Add this option of the batch system to the batch job, for example --extra=--exclude=n17 (Slurm). "
            "Repeat it for more.",
            "--extra",
            metavar="WORD",
        ),
    ] = None,
    site: Annotated[
        Path | None,
        option(
            "Take defaults of batch jobs from this TOML file. Default: ~/.config/ullage/site.toml, if there is one.",
            "--site",
            metavar="FILE",
        ),
    ] = None,
    campaign: Annotated[
        Path | None,
        option(
            f"Keep the rows in the campaign in this folder at the end. Default: ${CAMPAIGN}, if it is set.",
            envvar=CAMPAIGN,
            show_envvar=False,
            metavar="DIR",
        ),
    ] = None,
    beside: Annotated[
        Path | None,
        option("Show the numbers of another program beside: any file that `ullage import` reads.", metavar="FILE"),
    ] = None,
    everything: AllOption = False,
    quiet: QuietOption = False,
) -> None:
    """Declare the options of verbs that may submit a batch job, as parameters."""


def options_of_runs(*names: str) -> dict[str, inspect.Parameter]:
    """Return these options of verbs that start runs, or all of them, by name."""
    every = dict(inspect.signature(_options_of_runs).parameters)
    return {name: every[name] for name in names} if names else every


def signed(function: Callable[..., None], parameters: Iterable[inspect.Parameter]) -> Callable[..., None]:
    """Give ``function`` these parameters by keyword, as typer reads them: by the signature, and annotations by name."""
    every = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    shown = cast("Any", function)
    shown.__signature__ = inspect.Signature(every)
    shown.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
    return function


def shown_at_end(*, everything: bool, quiet: bool) -> "Shown":
    """Return what a run prints at its end; raise ``UserError`` for both at once."""
    if everything and quiet:
        raise UserError("one excludes the other", "--all --quiet", "give one of them")
    return "all" if everything else "path" if quiet else "screen"


def parameters(model: "type[SuiteOptions]", *, site_gives_targets: bool = False) -> list[inspect.Parameter]:
    """Return a parameter for each option, as in the help. ``site_gives_targets``: a site file may name them."""
    from ullage.runs.options.declared import declared

    every = declared(model)
    if site_gives_targets and (of_targets := every.get("targets")) is not None and not of_targets.option.argument:
        option = replace(of_targets.option, required=False)
        every = {**every, "targets": replace(of_targets, option=option, default=None)}
    return [_parameter(one) for one in every.values()]


def _parameter(one: "Declared") -> inspect.Parameter:
    usual = inspect.Parameter.empty if one.option.required else False if one.is_flag else one.shown_default or None
    # What typer shows as the default is the text that people would type, whatever the type of the value is.
    python = one.kind.python
    whole: Any = list[python] if one.kind.repeated else python
    annotation = Annotated[whole if one.is_flag or one.option.required else whole | None, _info(one)]
    return inspect.Parameter(one.keyword, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=annotation)


def _info(one: "Declared") -> Any:  # noqa: ANN401 - typer's own are untyped
    said: dict[str, Any] = {"help": one.help, "show_default": bool(one.shown_default)}
    if one.metavar:
        said["metavar"] = one.metavar
    if one.option.argument:
        return typer.Argument(**said)
    if one.kind.python in (int, float):
        said |= {"min": one.low, "max": one.high}
    if one.kind.choices:
        said["autocompletion"] = _completion(one.kind.choices)
    return typer.Option(one.name, **said)


def _completion(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that completes the value after the last comma."""

    def complete(incomplete: str) -> list[str]:
        head, comma, tail = incomplete.rpartition(",")
        return [f"{head}{comma}{choice}" for choice in choices if choice.startswith(tail)]

    return complete
