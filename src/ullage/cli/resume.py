# SPDX-License-Identifier: Apache-2.0
"""``ullage resume``: finish a run that was cut short."""

from typing import Annotated, cast

import typer

from ullage.cli.options import AllOption, EngineOption, QuietOption, ResultArgument, shown_at_end


def resume(
    result: ResultArgument,
    *,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="Measure for at most this much longer. Default: the rest of the run's time, or what "
            "the missing cases need.",
            show_default=False,
        ),
    ] = None,
    recheck: Annotated[bool, typer.Option("--recheck", help="Repeat cells that look like outliers.")] = False,
    launcher: Annotated[
        str, typer.Option(metavar="NAME", help="Start the engine by auto (the mpiexec of its MPI), open-mpi or mpich.")
    ] = "auto",
    engine: EngineOption = None,
    everything: AllOption = False,
    quiet: QuietOption = False,
) -> None:
    """Continue a run that was interrupted.

    Complete cases are kept, missing cases are measured, and the report is written again.
    """
    from ullage.engine import describe, find_engine
    from ullage.launch import choose_launcher
    from ullage.launch.hosts import make_hosts
    from ullage.results.folder import ResultFolder
    from ullage.runs.inputs import EngineContext
    from ullage.runs.lifecycle import launcher_name, measure
    from ullage.runs.options.declared import read_word
    from ullage.runs.options.kinds import Duration
    from ullage.runs.suite import find_suite

    shown = shown_at_end(everything=everything, quiet=quiet)
    folder = ResultFolder.open(result)
    request = folder.read_request()
    if recheck:
        request = request.model_copy(update={"options": {**request.options, "recheck": True}})
    program = find_engine(engine)
    engine_context = EngineContext(program, describe(program))
    prepared = find_suite(request.suite).prepare(request, engine_context)
    seconds = None if time is None else cast("float", read_word("--time", Duration(), time))
    chosen = choose_launcher(engine_context.description, launcher_name(launcher), hosts=make_hosts(request.hosts))
    raise typer.Exit(measure(prepared, folder, engine_context, chosen, seconds, shown))
