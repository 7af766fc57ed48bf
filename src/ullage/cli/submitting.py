# SPDX-License-Identifier: Apache-2.0
"""Batch jobs: their options, what of them is submitted, how many a run takes, and what is left of the one around us."""

import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ullage.errors import UserError, say

if TYPE_CHECKING:
    from ullage.launch.base import Launcher
    from ullage.launch.batch import BatchSystem, JobRequest
    from ullage.launch.site import Site
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.runs.jobtime import JobTime
    from ullage.runs.lifecycle import Shown
    from ullage.runs.submitted import Submission
    from ullage.runs.suite import Prepared, Suite

_SCRIPT: Final = "script"
_MARK: Final = ":"
_SLURM: Final = "slurm"
_WORDS: Final = ("ppn", "account", "queue", "walltime", "reservation", "constraint", "extra")
_CHAIN: Final = "chain"
_SPARE: Final = "spare_nodes"
_EXCLUDE: Final = "exclude"
_WALLTIME: Final = "walltime"
_NOT_EXCLUSIVE: Final = "no-exclusive"
_AUTO: Final = "auto"
_MOST_COUNTS: Final = 8


def asked_of_site(own: Mapping[str, Any]) -> "Site":
    """Return the site's defaults with what the command line says; raise ``UserError`` for options of no job.

    Inside a job nothing is submitted: what the site file says of launchers does not hold there, and ``--walltime`` is
    the limit of that job. ``launcher`` of what is returned names a batch system, or ``script:SYSTEM``, where a job is
    made.
    """
    from ullage.launch.hosts import parse_hosts
    from ullage.launch.site import read_site, with_words
    from ullage.system.allocation import allocation

    site = read_site(own["site"])
    said: dict[str, Any] = {name: own[name] for name in (*_WORDS, _CHAIN, _SPARE, _EXCLUDE) if own.get(name)}
    if not own["exclusive"]:
        said[_NOT_EXCLUSIVE] = True
    job = allocation()
    launcher = _named_system(str(own["launcher"]), site.launcher, is_outside=job is None)
    is_job = system_of(launcher) is not None
    if is_job and not is_script(launcher) and job is not None:
        if launcher != job.scheduler:
            what = f"this is a job of {job.scheduler} already, and {launcher} would submit another"
            raise UserError(what, f"--launcher {launcher}", "leave --launcher out to run in this job")
        launcher = _AUTO
    elif not is_job and (of_jobs := _only_of_jobs(said, is_inside=job is not None, has_hosts=bool(own.get("hosts")))):
        name = of_jobs[0].replace("_", "-")
        what = f"is of batch jobs, and launcher {launcher} makes none"
        raise UserError(what, f"--{name}", f"give --launcher {listing_of_systems()}, or script")
    if not is_job and job is not None and launcher in (_AUTO, "here") and site.mpi:
        launcher = site.mpi
    if said.pop(_CHAIN, 0) and is_script(launcher):
        what = f"needs an ullage that watches the job, and with --launcher {launcher} none does"
        raise UserError(what, f"--{_CHAIN}", f"give --launcher {launcher.partition(_MARK)[2]}")
    if said.pop(_SPARE, 0) and writes_each_launch(launcher):
        what = "needs an ullage in the job, and these scripts start the engine alone"
        raise UserError(what, "--spare-nodes", "submit them yourself again, or give --launcher slurm")
    if _EXCLUDE in said:
        said[_EXCLUDE] = [*site.exclude, *parse_hosts(said[_EXCLUDE], f"--{_EXCLUDE}")]
    exclusive = site.exclusive and not said.pop(_NOT_EXCLUSIVE, False)
    update = {**said, "launcher": launcher, "exclusive": exclusive}
    if "extra" in said:
        update["extra"] = [*site.extra, *said["extra"]]
    return with_words(site, update)


def _only_of_jobs(said: Mapping[str, Any], *, is_inside: bool, has_hosts: bool) -> list[str]:
    """Return what is said only of jobs that are submitted, where none is."""
    also_inside = {_WALLTIME, _SPARE, _EXCLUDE} if is_inside else set[str]()
    also_of_hosts = {_SPARE, _EXCLUDE} if has_hosts else set[str]()
    return [name for name in said if name not in also_inside | also_of_hosts]


def usable(launcher: "Launcher", exclude: str | None) -> "Launcher":
    """Return ``launcher`` without the nodes that are not to be used; raise ``UserError`` where it cannot do so."""
    from ullage.errors import EXIT_ENVIRONMENT
    from ullage.launch.hosts import parse_hosts

    if not exclude:
        return launcher
    found = launcher.without(parse_hosts(exclude, f"--{_EXCLUDE}"))
    if found is None:
        what = f"{launcher.name} takes all nodes of the job"
        raise UserError(what, f"--{_EXCLUDE} {exclude}", "ask the batch system for other nodes", EXIT_ENVIRONMENT)
    return found


def nodes_to_use(hosts: "Sequence[str]", own: Mapping[str, Any]) -> int:
    """Return the nodes that ranks get of ``hosts`` or this job, 0 of one at most; raise ``UserError`` without any."""
    from ullage.launch.hosts import parse_hosts
    from ullage.system.allocation import node_names, nodes_of_job

    excluded = set(parse_hosts(own.get(_EXCLUDE), f"--{_EXCLUDE}"))
    spare, there = own.get(_SPARE) or 0, hosts or node_names()
    nodes = len(hosts) or nodes_of_job()
    left = nodes - sum(name in excluded for name in there) - spare
    if nodes == 1 and not hosts:
        return 0  # the job that is submitted asks for more
    if left < 1:
        what = f"none of the {nodes} nodes is left for ranks"
        raise UserError(what, f"--{'spare-nodes' if spare else _EXCLUDE}", "leave it out, or ask for more nodes")
    return left


def limit_of_jobs(own: Mapping[str, Any]) -> "tuple[str, BatchSystem]":
    """Return the time limit of each job, or empty, and its batch system; refuse a chain of jobs without a limit."""
    from ullage.launch import batch_systems
    from ullage.launch.site import read_site

    site = read_site(own["site"])
    launcher = _named_system(str(own["launcher"]), site.launcher, is_outside=True)
    walltime = own["walltime"] or site.walltime
    if own[_CHAIN] and not walltime:
        raise UserError("a chain is of jobs with a time limit", f"--{_CHAIN} {own[_CHAIN]}", "give --walltime 00:30:00")
    return walltime, system_of(launcher) or batch_systems()[_SLURM]


def _named_system(launcher: str, of_site: str, *, is_outside: bool) -> str:
    """Return ``launcher``, else the site's, where ``script`` says for which batch system."""
    if launcher == _AUTO and of_site and is_outside:
        launcher = of_site
    if launcher != _SCRIPT:
        return launcher
    of_site = of_site.rpartition(_MARK)[2]
    return f"{_SCRIPT}{_MARK}{of_site if system_of(of_site) is not None else _SLURM}"


def is_script(launcher: str) -> bool:
    """Tell whether people submit the job themselves."""
    return launcher.partition(_MARK)[0] == _SCRIPT


def listing_of_systems() -> str:
    """Return the names of all batch systems."""
    from ullage.launch import batch_systems

    *others, last = sorted(batch_systems())
    return f"{', '.join(others)} or {last}"


def system_of(launcher: str) -> "BatchSystem | None":
    """Return the batch system of a launcher that makes jobs, or None. Raise ``UserError`` for ``script:`` of none."""
    from ullage.launch import batch_systems
    from ullage.parameters import suggest

    known = batch_systems()
    found = known.get(launcher.partition(_MARK)[2] if is_script(launcher) else launcher)
    if found is None and is_script(launcher) and launcher != _SCRIPT:
        name = launcher.partition(_MARK)[2]
        raise UserError(f"unknown batch system '{name}'", "--launcher", suggest(name, sorted(known)))
    return found


def writes_each_launch(launcher: str) -> bool:
    """Tell whether each launch gets a script of its own, which starts the engine without Python on the nodes."""
    return launcher == f"{_SCRIPT}{_MARK}{_SLURM}"


def wanted_of(site: "Site", nodes: int) -> "JobRequest":
    """Return what a job of so many nodes asks for."""
    from dataclasses import fields

    from ullage.launch.batch import JobRequest

    return JobRequest(nodes, **{one.name: getattr(site, one.name) for one in fields(JobRequest) if one.name != "nodes"})


def submission(
    suite: "Suite",
    request: "Request",
    where: Path | None,
    engine: Path,
    site: "Site",
    system: "BatchSystem",
    spare: int,
) -> "Submission":
    """Return what is submitted, with ``spare`` more nodes; refuse named hosts and a result that is there."""
    from ullage.results.folder import DEFAULT_PARENT
    from ullage.runs.submitted import Submission, arguments_in_job, arguments_of_rest, kept_words

    if request.hosts:
        right = f"leave --hosts out with --launcher {site.launcher}"
        raise UserError("the batch system chooses the nodes", "--hosts", right)
    result = (where or DEFAULT_PARENT / request.run_id).absolute()
    if result.exists():
        raise UserError("exists already", str(result), "choose another --result, or `ullage resume` it")
    result.parent.mkdir(parents=True, exist_ok=True)
    nodes = request.options.get("nodes")
    limit_s = _limit_s(site, system)
    arguments = arguments_in_job(sys.argv[1:], result, engine, limit_s)
    wanted = wanted_of(site, (nodes if isinstance(nodes, int) else 1) + spare)
    rest = arguments_of_rest(["run", *kept_words(sys.argv[1:])], result, engine, limit_s)
    return Submission(result, arguments, wanted, f"run {suite.name}", rest, system, _longer(limit_s))


def _limit_s(site: "Site", system: "BatchSystem") -> int | None:
    return system.limit_s(site.walltime) if site.walltime else None


def _longer(limit_s: int | None) -> str:
    """Return the option for jobs in which a repetition has at least twice the time that was too short."""
    from ullage.runs.jobtime import least_walltime

    return "" if limit_s is None else f"--walltime {least_walltime(2 * limit_s)} or more, or smaller cases"


def submit_or_write(submission: "Submission", site: "Site", shown: "Shown", chain: int) -> int:
    """Submit a job and follow it, or write its script; return the exit code. ``chain``: see ``submit_and_watch``."""
    from ullage.runs.submitted import submit_and_watch, write_script
    from ullage.terminal import print_line

    _warn_of_own_disk(submission.result.parent)
    if not is_script(site.launcher):
        return submit_and_watch(submission, shown, chain)
    script = write_script(submission)
    print_line(f"written  {script}")
    print_line(f"submit   {submission.system.typed} {script}")
    print_line(f"then     ullage report {submission.result}")
    print_line(str(submission.result))
    return 0


def _warn_of_own_disk(folder: Path) -> None:
    """Say before a job is submitted that its result is on a disk of this machine, which other nodes may not see."""
    from ullage.model.plan import Target
    from ullage.system.storage import read_places

    (place,) = read_places([Target(name="result", uri=f"posix:{folder}")])
    if place.is_remote is False:
        say(
            f"warning: {folder} is on {place.file_system} of this machine; unless the job's nodes mount it from here, "
            "nothing that is measured appears in it: give --result on a file system that all nodes share"
        )


def most_nodes(folder: "ResultFolder") -> int:
    """Return the nodes of the largest launch that a result has a plan of, its parts' included; 1 without any."""
    results = (folder, *folder.parts())
    return max((one.read_plan(number).layout.nodes or 1 for one in results for number in one.launches()), default=1)


def check_nodes(folder: "ResultFolder", request: "Request") -> None:
    """Raise ``UserError`` (exit code 3) where a run on several nodes of a job goes on with fewer of them."""
    from ullage.errors import EXIT_ENVIRONMENT
    from ullage.system.allocation import nodes_of_job

    wanted, here = most_nodes(folder), nodes_of_job()
    if request.hosts or wanted <= here:
        return
    where = "there is no batch job here" if here == 1 else f"this batch job has {here}"
    right = f"give --launcher {listing_of_systems()}, or resume inside a job of as many nodes"
    raise UserError(f"the run needs {wanted} nodes, and {where}", str(folder.path), right, EXIT_ENVIRONMENT)


def submit_rest(
    folder: "ResultFolder", engine: Path, site: "Site", system: "BatchSystem", shown: "Shown", chain: int, spare: int
) -> int:
    """Submit what a result lacks, or write the script; return the exit code. ``chain``: as of ``submit_and_watch``."""
    from ullage.results.lock import measured_alone
    from ullage.runs.submitted import Submission, arguments_of_rest

    with measured_alone(folder):  # a run that is under way has its own rest
        limit_s = _limit_s(site, system)
        arguments = arguments_of_rest(sys.argv[1:], folder.path, engine, limit_s)
    wanted = wanted_of(site, most_nodes(folder) + spare)
    rest = Submission(folder.path, arguments, wanted, "resume", arguments, system, _longer(limit_s))
    return submit_or_write(rest, site, shown, chain)


def time_of_this_job(walltime: str) -> "JobTime | None":
    """Return the time of this batch job, by it or ``walltime``; None outside of one, and where nobody says it."""
    from ullage.launch import batch_systems
    from ullage.launch.batch import ENDED_VARIABLE, usable_seconds
    from ullage.runs.jobtime import JobTime
    from ullage.system.allocation import allocation

    # Taken away: runs that this one starts, on each node, are no jobs of their own.
    ended = os.environ.pop(ENDED_VARIABLE, "")
    job = allocation()
    if job is None:
        return None
    system, left_s = batch_systems()[job.scheduler], None
    with contextlib.suppress(UserError):  # its commands may be missing on the nodes
        left_s = system.seconds_left(job.job)
    limits = [*([] if left_s is None else [left_s]), *([system.limit_s(walltime)] if walltime else [])]
    if not limits:
        return None
    ends_at = time.monotonic() + usable_seconds(min(limits))
    return JobTime(ends_at, limits[-1], ended=Path(ended) if ended else None)


def check_walltime(prepared: "Prepared", system: "BatchSystem", walltime: str, chain: int) -> list[str]:
    """Return lines on how many such jobs a run takes; raise ``UserError`` if a repetition takes longer than one."""
    from ullage.launch.batch import usable_seconds
    from ullage.runs.jobtime import Costed, divide, most_jobs
    from ullage.units import format_time

    if not isinstance(prepared, Costed):
        return [_unknown(prepared.request.suite)]
    work, walltime_s = prepared.work(), system.limit_s(walltime)
    try:
        jobs = divide(work, walltime_s)
    except UserError as error:
        if work.is_firm:
            raise
        return [f"By an estimate, {error}."]
    most = most_jobs(work, jobs, walltime_s)
    usable = format_time(usable_seconds(walltime_s))
    lines = [_jobs_line(jobs, most, f"{walltime}{'' if work.is_firm else ', estimated'}", usable)]
    if most - 1 > chain:
        lines.append(f"Give --chain {most - 1}: it submits all of them, one after the other.")
    return [*lines, *(_unknown(suite) for suite in work.unknown)]


def _unknown(suite: str) -> str:
    return f"Not available: how many jobs suite {suite} takes. Its cases need the data of one another."


def _jobs_line(jobs: Sequence[int], most: int, walltime: str, usable: str) -> str:
    """Return how many jobs a run takes; ``walltime``: of each, with what the count rests on."""
    from ullage.quantity import listing

    each = f"Each can measure for {usable}."
    if most == 1:
        return f"One job is enough (--walltime {walltime}). It can measure for {usable}."
    if len(jobs) == most:
        counts = f"They finish {listing([str(count) for count in jobs], _MOST_COUNTS)} cases. "
        return f"{most} jobs are needed (--walltime {walltime}). {counts if most <= _MOST_COUNTS else ''}{each}"
    return f"{len(jobs)} to {most} jobs are needed (--walltime {walltime}), until all intervals are narrow. {each}"
