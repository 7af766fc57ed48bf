# SPDX-License-Identifier: Apache-2.0
"""``ullage resume``: finish a run that was cut short."""

import inspect
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ullage.cli.campaign import keep_at_end
from ullage.cli.command_tree import ListedCommand
from ullage.cli.options import ResultArgument, option, options_of_runs, shown_at_end, signed
from ullage.cli.submitting import asked_of_site, check_nodes, submit_rest, system_of, time_of_this_job, usable


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``, with the options of ``run`` besides its own."""
    every = {**options_of_runs(), **inspect.signature(_options).parameters}
    del every["hosts"], every["beside"]  # of the run, whose result has it

    def command(**values: Any) -> None:  # noqa: ANN401 - by the signature
        resume(**values)

    own = [every.pop(name) for name in ("result", "time", "recheck")]
    app.command(name="resume", help=_options.__doc__, cls=ListedCommand)(signed(command, [*own, *every.values()]))


def _options(
    result: ResultArgument,
    *,
    time: Annotated[
        str | None,
        option(
            "Measure for at most this much longer. Default: the rest of the run's time, or what "
            "the missing cases need.",
            metavar="DURATION",
        ),
    ] = None,
    recheck: Annotated[bool, typer.Option("--recheck", help="Repeat cells that look like outliers.")] = False,
) -> None:
    """Continue a run that was interrupted.

    Complete cases are kept, missing cases are measured, and the report is written again.
    """


def resume(result: Path, time: str | None = None, *, recheck: bool = False, **said: Any) -> None:  # noqa: ANN401
    """Finish ``result``. ``said``: what the command line says of the options of ``run``, by their names."""
    from ullage.engine import find_engine
    from ullage.results.folder import ResultFolder, check_plans
    from ullage.runs.inputs import EngineContext
    from ullage.runs.lifecycle import launcher_for, measure, refuse_copies
    from ullage.runs.members.prepared import prepare_run
    from ullage.runs.options.declared import parse_option
    from ullage.runs.options.kinds import Duration
    from ullage.runs.suite import find_suite

    usual = {name: one.default for name, one in options_of_runs().items()}
    own: dict[str, Any] = {**usual, **said}
    refuse_copies("resume")
    shown = shown_at_end(everything=own["everything"], quiet=own["quiet"])
    folder = ResultFolder.open(result)
    request = folder.read_request()
    for one in (folder, *folder.parts()):
        check_plans(one)
    if recheck:
        request = request.model_copy(update={"options": {**request.options, "recheck": True}})
    asked = asked_of_site({**own, "hosts": request.hosts})
    engine, system = find_engine(own["engine"]), system_of(asked.launcher)
    if system is not None:
        raise typer.Exit(submit_rest(folder, engine, asked, system, shown, own["chain"], own["spare_nodes"]))
    check_nodes(folder, request)
    engine_context = EngineContext.of(engine)
    prepared = prepare_run(find_suite(request.suite), request, engine_context, asked.launcher)
    seconds = None if time is None else cast("float", parse_option("--time", Duration(), time))
    launcher = usable(launcher_for(engine_context, asked.launcher, request.hosts), own["exclude"])
    job_time, stage = time_of_this_job(own["walltime"]), own["stage"] or asked.stage_here
    code = measure(prepared, folder, engine_context, launcher, seconds, shown, job_time, stage)
    code = keep_at_end(folder.path, own["campaign"], code)
    raise typer.Exit(job_time.code_of_job(code) if job_time else code)
