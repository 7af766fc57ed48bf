# SPDX-License-Identifier: Apache-2.0
"""The time limit of batch jobs: how many a run takes, and what is left of the one that we are in."""

import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.launch.batch import BatchSystem
    from ullage.runs.jobtime import JobTime
    from ullage.runs.suite import Prepared


_MOST_COUNTS: Final = 8


def time_of_this_job(walltime: str) -> "JobTime | None":
    """Return the time of the batch job that we are in; None outside of one, and where nobody says its limit.

    ``walltime``: the limit as the command line says it. The batch system may say what is left of it.
    """
    from ullage.launch import batch_systems
    from ullage.launch.batch import usable_seconds
    from ullage.runs.jobtime import JobTime
    from ullage.system.allocation import allocation

    job = allocation()
    if job is None:
        return None
    system, left_s = batch_systems()[job.scheduler], None
    with contextlib.suppress(UserError):  # its commands may be missing on the nodes
        left_s = system.seconds_left(job.job)
    limits = [*([] if left_s is None else [left_s]), *([system.limit_s(walltime)] if walltime else [])]
    if not limits:
        return None
    return JobTime(time.monotonic() + usable_seconds(min(limits)), limits[-1])


def check_walltime(prepared: "Prepared", system: "BatchSystem", walltime: str, chain: int) -> list[str]:
    """Return lines on how many jobs of that limit a run takes.

    Raise ``UserError`` where a repetition certainly takes longer than a job.
    """
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
