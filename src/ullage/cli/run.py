# SPDX-License-Identifier: Apache-2.0
"""``ullage run SUITE``: measure, and say what the numbers mean; ``ullage member``: the same on one of several nodes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ullage.cli import submitting
from ullage.cli.campaign import keep_at_end
from ullage.cli.options import options_of_runs, shown_at_end
from ullage.cli.suite_commands import add_suites, make_request
from ullage.errors import UserError, say

if TYPE_CHECKING:
    from ullage.launch.batch import BatchSystem
    from ullage.launch.site import Site
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.runs.inputs import EngineContext, ParsedOptions
    from ullage.runs.suite import Prepared, Suite

_DOC = "Run a suite and write its report.\n\nThe last line of stdout is the result folder."


def register(app: typer.Typer) -> None:
    """Add the verbs to ``app``; people do not type ``member``, which ``run --each-node`` starts on each node."""
    add_suites(app, "run", _DOC, _run, options_of_runs())
    app.command(name="member", hidden=True)(_member)


def _run(suite: "Suite", asked: "ParsedOptions", own: Mapping[str, Any]) -> None:
    from ullage.importers import import_options
    from ullage.runs.inputs import EngineContext
    from ullage.runs.lifecycle import launcher_for, measure, refuse_copies
    from ullage.runs.members.prepared import prepare_run
    from ullage.runs.nodes import is_of_each_node

    refuse_copies("run")
    # A bad file is refused here, before anything is measured.
    beside = import_options(own["beside"]) if own["beside"] else None
    shown = shown_at_end(everything=own["everything"], quiet=own["quiet"])
    engine_context = EngineContext.of(own["engine"])
    request = make_request(suite, asked, own["hosts"])
    site = submitting.asked_of_site(own)
    name = site.launcher
    if submitting.writes_each_launch(name):
        if is_of_each_node(request):
            what = "each node is measured by an Ullage on it, and these scripts start the engine alone"
            raise UserError(what, "--each-node", "give --launcher slurm, or start it inside a job")
        prepared = prepare_run(suite, request, engine_context)
        _write_scripts(prepared, engine_context, lambda: _made(own, prepared.request, beside), site)
        return
    system = submitting.system_of(name)
    if system is not None:
        for line in _jobs(suite, request, engine_context, system, site.walltime, own["chain"]) if site.walltime else ():
            say(line)
        first = submitting.submission(
            suite, request, own["result"], engine_context.engine, site, system, own["spare_nodes"]
        )
        raise typer.Exit(submitting.submit_or_write(first, site, shown, own["chain"]))
    launcher = launcher_for(engine_context, name, request.hosts)
    prepared = prepare_run(suite, request, engine_context, name)
    folder = _made(own, prepared.request, beside)
    launcher = submitting.usable(launcher, own["exclude"])
    job_time, stage = submitting.time_of_this_job(own["walltime"]), own["stage"] or site.stage_here
    code = measure(prepared, folder, engine_context, launcher, shown=shown, job_time=job_time, stage=stage)
    code = keep_at_end(folder.path, own["campaign"], code)
    raise typer.Exit(job_time.code_of_job(code) if job_time else code)


def _made(own: Mapping[str, Any], request: "Request", beside: dict[str, object] | None) -> "ResultFolder":
    from ullage.importers import write_import
    from ullage.results.folder import BESIDE, ResultFolder

    folder = ResultFolder.create(own["result"], request)
    if beside is not None:
        write_import(own["beside"], folder.path / BESIDE, beside, request.command)
    return folder


def _jobs(
    suite: "Suite",
    request: "Request",
    engine_context: "EngineContext",
    system: "BatchSystem",
    walltime: str,
    chain: int,
) -> list[str]:
    """Return lines on how many jobs the run takes; raise ``UserError`` where a repetition fits into none."""
    try:
        prepared = suite.prepare(request, engine_context)
    except UserError as error:
        return [f"How many jobs are needed is not known here: {error}."]
    return submitting.check_walltime(prepared, system, walltime, chain)


def _write_scripts(
    prepared: "Prepared", engine_context: "EngineContext", make: "Callable[[], ResultFolder]", site: "Site"
) -> None:
    """Write all plans and a batch script for each. Nothing is started."""
    from ullage.launch.slurm_script import write_batch
    from ullage.runs.room import freeze_system
    from ullage.terminal import print_line

    if prepared.request.hosts:
        raise UserError("the batch system chooses the nodes", "--hosts", "leave --hosts out with --launcher script")
    if site.stage:
        what = "is of one job for all launches, and these scripts start the engine alone"
        raise UserError(what, "--stage", "leave it out, or give --launcher slurm")
    if prepared.unsettled:
        what = "batch scripts cannot probe the machine they will run on"
        raise UserError(what, "--launcher script", f"give {prepared.unsettled}")
    if site.ppn:
        what = "is of one job for all launches, and each of these scripts has the layout of its own launch"
        raise UserError(what, "--ppn", "give --ranks-per-node")
    folder = make()
    freeze_system(folder, prepared.request, engine_context)
    plans = list(enumerate(prepared.plans(folder), start=1))
    for number, plan in plans:
        folder.prepare_launch(number, plan)
    batch = write_batch(folder, engine_context.engine, engine_context.description.engine.mpi.family, plans, site)
    for script in batch.scripts:
        print_line(f"written  {script}")
    print_line(f"submit   {' '.join(batch.submit)}")
    print_line(f"then     {' '.join(batch.afterwards)}")
    print_line(str(folder.path))


def _member(
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
