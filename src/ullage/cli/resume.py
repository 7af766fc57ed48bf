# SPDX-License-Identifier: Apache-2.0
"""``ullage resume``: finish a run that was cut short."""

from typing import Annotated, cast

import typer

from ullage.cli.job_time import time_of_this_job
from ullage.cli.options import (
    AccountOption,
    AllOption,
    ChainOption,
    ConstraintOption,
    EngineOption,
    ExcludeOption,
    ExclusiveOption,
    ExtraOption,
    LauncherOption,
    PpnOption,
    QueueOption,
    QuietOption,
    ReservationOption,
    ResultArgument,
    SiteOption,
    SpareNodesOption,
    StageOption,
    WalltimeOption,
    shown_at_end,
)
from ullage.cli.submitting import asked_of_site, check_nodes, submit_rest, system_of, usable


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
    launcher: LauncherOption = "auto",
    engine: EngineOption = None,
    account: AccountOption = "",
    queue: QueueOption = "",
    walltime: WalltimeOption = "",
    ppn: PpnOption = 0,
    reservation: ReservationOption = "",
    constraint: ConstraintOption = "",
    exclusive: ExclusiveOption = True,
    chain: ChainOption = 0,
    spare_nodes: SpareNodesOption = 0,
    exclude: ExcludeOption = None,
    stage: StageOption = None,
    extra: ExtraOption = None,
    site: SiteOption = None,
    everything: AllOption = False,
    quiet: QuietOption = False,
) -> None:
    """Continue a run that was interrupted.

    Complete cases are kept, missing cases are measured, and the report is written again.
    """
    from ullage.engine import describe, find_engine
    from ullage.launch import choose_launcher
    from ullage.launch.hosts import make_hosts
    from ullage.results.folder import ResultFolder, check_plans
    from ullage.runs.inputs import EngineContext
    from ullage.runs.lifecycle import launcher_name, measure, refuse_copies
    from ullage.runs.members.prepared import prepare_run
    from ullage.runs.options.declared import parse_option
    from ullage.runs.options.kinds import Duration
    from ullage.runs.suite import find_suite

    refuse_copies("resume")
    shown = shown_at_end(everything=everything, quiet=quiet)
    folder = ResultFolder.open(result)
    request = folder.read_request()
    for one in (folder, *folder.parts()):
        check_plans(one)
    if recheck:
        request = request.model_copy(update={"options": {**request.options, "recheck": True}})
    said = {"account": account, "queue": queue, "walltime": walltime, "extra": extra, "chain": chain, "ppn": ppn}
    more: dict[str, object] = {"reservation": reservation, "constraint": constraint, "exclusive": exclusive}
    more |= {"spare_nodes": spare_nodes, "exclude": exclude, "hosts": request.hosts}
    asked = asked_of_site({"launcher": launcher, "site": site, **said, **more})
    program = find_engine(engine)
    system = system_of(asked.launcher)
    if system is not None:
        raise typer.Exit(submit_rest(folder, program, asked, system, shown, chain, spare_nodes))
    check_nodes(folder, request)
    engine_context = EngineContext(program, describe(program))
    prepared = prepare_run(find_suite(request.suite), request, engine_context, asked.launcher)
    seconds = None if time is None else cast("float", parse_option("--time", Duration(), time))
    chosen = choose_launcher(engine_context.description, launcher_name(asked.launcher), hosts=make_hosts(request.hosts))
    chosen = usable(chosen, exclude)
    job_time, stage = time_of_this_job(walltime), stage or asked.stage_here
    raise typer.Exit(measure(prepared, folder, engine_context, chosen, seconds, shown, job_time, stage))
