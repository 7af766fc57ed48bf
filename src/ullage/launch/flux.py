# SPDX-License-Identifier: Apache-2.0
"""Flux: jobs by flux batch, and ranks by flux run, as jobs of the instance that a batch job is.

Not run on a real instance: the answers are read as the public documentation writes them (tests/launch/transcripts).
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Self

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import Family, JobLauncher, bound_cores, by_own_mpiexec, own_name, wrapper
from ullage.launch.batch import UNKNOWN, BatchSystem, JobRequest, JobState, Stage, plain_path, seconds_of
from ullage.model.plan import Layout
from ullage.system.allocation import Scheduler
from ullage.system.files import said_by

_STAGES: Final[dict[str, Stage]] = {
    **dict.fromkeys(("NEW", "DEPEND", "PRIORITY", "SCHED"), "waits"),
    **dict.fromkeys(("RUN", "CLEANUP"), "runs"),
    "INACTIVE": "over",
}
_FIELDS: Final = ("state", "result", "returncode", "exception.type", "annotations.sched.reason_pending")
# Notes may hold anything, so theirs is the last one.
_FORMAT: Final = "|".join(f"{{{name}}}" for name in (*_FIELDS, "exception.note"))
# A job shell ends so when a signal has ended its task.
_SIGNALLED: Final = 128


def _directives(wanted: JobRequest, name: str) -> Iterator[str]:
    if wanted.reservation:
        what = "Flux has no reservations that a job can name"
        raise UserError(what, "--reservation", "name a queue or a kind of node: --queue, --constraint")
    if not wanted.exclusive and not wanted.ppn:
        what = "Flux gives whole nodes to jobs that ask for no number of processors"
        raise UserError(what, "--no-exclusive", "give --ppn, or leave it out")
    required = [*([wanted.constraint] if wanted.constraint else []), *(f"-host:{one}" for one in wanted.exclude)]
    said = {
        "nslots": str(wanted.nodes * wanted.ppn or ""),
        "bank": wanted.account,
        "queue": wanted.queue,
        "requires": " and ".join(required),
        "time-limit": f"{seconds_of(wanted.walltime)}s" if wanted.walltime else "",
    }
    alone = ["--exclusive"] if wanted.exclusive else []
    words = [f"--{option}={value}" for option, value in said.items() if value]
    for word in (f"--job-name={name}", f"--nodes={wanted.nodes}", *alone, *words, *wanted.extra):
        yield f"#flux: {word}"


def parse_state(text: str) -> JobState:
    """Read what ``flux jobs`` says of one job in ``_FORMAT``."""
    said = [part.strip() for part in text.splitlines()[0].split("|", len(_FIELDS))] if text.strip() else []
    if len(said) <= len(_FIELDS):
        return UNKNOWN
    state, result, code, exception, why, note = said
    stage = _STAGES.get(state, "unknown")
    if stage != "over":
        return JobState(state, stage, why if stage == "waits" else "")
    return _ended(result, int(code) if re.fullmatch(r"-?\d+", code) else 0, exception, note)


def _ended(result: str, code: int, exception: str, note: str) -> JobState:
    reason = ": ".join(part for part in (exception, note) if part)
    if result == "CANCELED":
        return JobState(result, "over", reason)
    if code < 0 or code > _SIGNALLED or exception or result == "TIMEOUT":
        number = -code if code < 0 else max(code - _SIGNALLED, 0)
        return JobState(result, "over", reason, 0, number, "killed")
    return JobState(result, "over", reason, code, 0, "itself")


SYSTEM: Final = BatchSystem(
    name="flux",
    title="Flux",
    suffix="flux",
    typed="flux batch",
    listed="flux jobs ",
    is_up="flux overlay status",
    submit_words=("flux", "batch"),
    job_pattern=re.compile(r"^(?P<job>[fƒ][0-9A-Za-z]+)$", re.MULTILINE),
    asks=("flux", "jobs", "-n", f"--format={_FORMAT}", "{job}"),
    read_state=parse_state,
    forgotten=re.compile("unknown", re.IGNORECASE),
    withdraws=("flux", "cancel", "{job}"),
    drains=("flux", "resource", "drain", "{node}", "{reason}"),
    # The instance of a job passes SIGTERM on to its script as SIGHUP, before it ends.
    tells_to_end=("flux", "job", "kill", "--signal=TERM", "{job}"),
    asks_left=("flux", "job", "timeleft", "{job}"),
    # A job without a limit has "infinity" left.
    read_left=lambda word: float(word) if word.isdecimal() else None,
    directives=_directives,
    path_word=lambda path: plain_path(path, "\"'\\{}"),
)


@dataclass(frozen=True, slots=True)
class FluxRun(JobLauncher):
    """Launches jobs of the instance."""

    NAME: ClassVar[str] = "flux-run"
    SCHEDULER: ClassVar[Scheduler] = "flux"
    PROGRAM: ClassVar[str] = "flux"
    INSIDE: ClassVar[str] = "flux alloc or flux batch"

    @classmethod
    def in_job(cls, program: Path, family: Family, cores: int | None, own: str) -> Self:
        if os.environ.get("FLUX_JOB_ID"):
            what = "this is a task of a Flux job without an instance of its own, and flux run would queue another job"
            right = f"start ullage by flux batch or in flux alloc, or {by_own_mpiexec(own)}"
            raise UserError(what, f"--launcher {cls.NAME}", right, EXIT_ENVIRONMENT)
        return cls(program, cores, family=family, own=own)

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``. A rank that dies ends the job (exit-on-error), as the others may wait for ever."""
        words = [*self._head(), "-o", "exit-on-error", *self._placed(layout)]
        return [*words, *wrapper("$FLUX_TASK_RANK"), str(engine), "run", str(plan)]

    def _head(self) -> list[str]:
        return [str(self.program), "run", "--unbuffered", f"--job-name={own_name()}"]

    def _placed(self, layout: Layout) -> list[str]:
        """Return the words that place and bind. Unbound ranks, which may outnumber the cores, get whole nodes."""
        width = bound_cores(layout, self.cores)
        if width is not None:
            where = [] if layout.nodes is None else [f"--nodes={layout.nodes}"]
            each = [f"--ntasks={layout.ranks}", f"--cores-per-task={width}"]
            return [*where, *each, "-o", "cpu-affinity=per-task"]
        nodes, on_each = self.check_even(layout)
        return [f"--nodes={nodes}", f"--tasks-per-node={on_each}", "-o", "cpu-affinity=off"]

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        return [*self._head(), "--ntasks=1", f"--requires=host:{host}", "-o", "cpu-affinity=off", *command]

    def end_elsewhere(self) -> None:
        """See ``Launcher``: a job whose ``flux run`` was killed goes on by itself."""
        listed = said_by([str(self.program), "jobs", "-n", "--format={id} {name}"])
        for job in [line.split()[0] for line in listed.splitlines() if line.split()[1:] == [own_name()]]:
            said_by([str(self.program), "cancel", job])


LAUNCHER: Final = FluxRun
