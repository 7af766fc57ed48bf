# SPDX-License-Identifier: Apache-2.0
"""Jobs of Flux: flux batch, flux jobs, flux job kill, flux cancel.

Not run on a real instance: the answers are read as the public documentation writes them (tests/launch/transcripts).
"""

import re
from pathlib import Path
from typing import Final

from ullage.errors import UserError
from ullage.launch.batch import (
    GONE,
    STATE_TIMEOUT_S,
    UNKNOWN,
    JobRequest,
    JobState,
    JobText,
    Stage,
    Submitter,
    ask,
    job_body,
    plain_name,
    plain_path,
    seconds_of,
    template,
)

NAME: Final = "flux"
TITLE: Final = "Flux"
SUFFIX: Final = "flux"
TYPED: Final = "flux batch"
ASKED: Final = "flux jobs"
LIST: Final = "flux jobs "

_SUBMITTER: Final = Submitter(
    NAME, TITLE, ("flux", "batch"), re.compile(r"^(?P<job>[fƒ][0-9A-Za-z]+)$", re.MULTILINE), "flux overlay status"
)
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


def job_script(wanted: JobRequest, text: JobText) -> str:
    """See ``BatchSystem``."""
    return template("flux.job.in").substitute(
        verb=text.verb,
        launcher=text.launcher,
        lines="\n".join(f"#flux: {line}" for line in [f"--job-name={plain_name(text.name)}", *_asked(wanted)]),
        output=plain_path(text.output, "\"'\\{}"),
        body=job_body(wanted, text).rstrip("\n"),
    )


def _asked(wanted: JobRequest) -> list[str]:
    if wanted.reservation:
        what = "Flux has no reservations that a job can name"
        raise UserError(what, "--reservation", "name a queue or a kind of node: --queue, --constraint")
    if not wanted.exclusive and not wanted.ppn:
        what = "Flux gives whole nodes to jobs that ask for no number of processors"
        raise UserError(what, "--no-exclusive", "give --ppn, or leave it out")
    required = [*([wanted.constraint] if wanted.constraint else []), *(f"-host:{name}" for name in wanted.exclude)]
    said = {
        "nslots": str(wanted.nodes * wanted.ppn or ""),
        "bank": wanted.account,
        "queue": wanted.queue,
        "requires": " and ".join(required),
        "time-limit": f"{seconds_of(wanted.walltime)}s" if wanted.walltime else "",
    }
    alone = ["--exclusive"] if wanted.exclusive else []
    words = [f"--{name}={value}" for name, value in said.items() if value]
    return [f"--nodes={wanted.nodes}", *alone, *words, *wanted.extra]


def submit(script: Path) -> str:
    """See ``BatchSystem``."""
    return _SUBMITTER.submit(script)


def limit_s(walltime: str) -> int:
    """See ``BatchSystem``."""
    return seconds_of(walltime)


def seconds_left(job: str) -> float | None:
    """See ``BatchSystem``: a job without a limit has ``infinity`` left."""
    done = ask(["flux", "job", "timeleft", job], TITLE, STATE_TIMEOUT_S)
    word = "" if done is None or done.returncode != 0 else done.stdout.strip()
    return float(word) if word.isdecimal() else None


def state_of(job: str) -> JobState:
    """See ``BatchSystem``."""
    done = ask(["flux", "jobs", "-n", f"--format={_FORMAT}", job], TITLE, STATE_TIMEOUT_S)
    if done is None:
        return UNKNOWN
    if done.returncode != 0 or not done.stdout.strip():
        return GONE if "unknown" in done.stderr.lower() else UNKNOWN
    return parse_state(done.stdout)


def parse_state(text: str) -> JobState:
    """Read what ``flux jobs`` says of one job in the format of ``state_of``."""
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


def withdraw(job: str) -> None:
    """See ``BatchSystem``."""
    ask(["flux", "cancel", job], TITLE)


def ask_to_end(job: str) -> None:
    """See ``BatchSystem``: the instance of a job passes SIGTERM on to its script as SIGHUP, before it ends."""
    ask(["flux", "job", "kill", "--signal=TERM", job], TITLE)
