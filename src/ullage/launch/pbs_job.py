# SPDX-License-Identifier: Apache-2.0
"""Jobs of OpenPBS and PBS Professional: qsub, qstat, qsig, qdel.

Not run on a real server: the answers are read as the public documentation writes them (tests/launch/transcripts).
"""

import re
from pathlib import Path
from typing import Any, Final, cast

from ullage.errors import UserError
from ullage.launch.batch import (
    GONE,
    STATE_TIMEOUT_S,
    UNKNOWN,
    End,
    JobRequest,
    JobState,
    JobText,
    Stage,
    Submitter,
    ask,
    clock,
    job_body,
    plain_name,
    plain_path,
    seconds_of,
    template,
)
from ullage.reading import parse_json

NAME: Final = "pbs"
TITLE: Final = "PBS"
SUFFIX: Final = "pbs"
TYPED: Final = "qsub"
ASKED: Final = "qstat"
LIST: Final = "qstat -x "

_JOB: Final = re.compile(r"^(?P<job>\d+(?:\.\S+)?)$", re.MULTILINE)
_SUBMITTER: Final = Submitter(NAME, TITLE, ("qsub",), _JOB, "qstat -B")
_STAGES: Final[dict[str, Stage]] = {
    **dict.fromkeys("QHWTM", "waits"),
    **dict.fromkeys("RESU", "runs"),
    **dict.fromkeys("FX", "over"),
}
_NO_SUCH_JOB: Final = re.compile(r"Unknown Job|has finished", re.IGNORECASE)
# Above this an exit status tells the signal that ended the script; below 0 it is PBS's own reason.
_SIGNALLED: Final = 256
_DELETED: Final = 91


def job_script(wanted: JobRequest, text: JobText) -> str:
    """See ``BatchSystem``."""
    return template("pbs.job.in").substitute(
        verb=text.verb,
        launcher=text.launcher,
        name=plain_name(text.name),
        lines="\n".join(f"#PBS {line}" for line in _asked(wanted)),
        output=plain_path(text.output, "\"'\\,:"),
        body=job_body(wanted, text).rstrip("\n"),
    )


def _asked(wanted: JobRequest) -> list[str]:
    if wanted.queue and wanted.reservation:
        what = "PBS has a queue for each reservation, so a job cannot name another queue"
        raise UserError(what, "--reservation", "leave --queue out")
    if wanted.exclude:
        what = "PBS has no word for nodes that a job must not get"
        raise UserError(what, "--exclude", "name the kind of nodes that it may get: --constraint")
    share = f":ncpus={wanted.ppn}:mpiprocs={wanted.ppn}" if wanted.ppn else ""
    of_node = f":{wanted.constraint}" if wanted.constraint else ""
    place = "scatter:excl" if wanted.exclusive else "scatter"
    said = {"-A": wanted.account, "-q": wanted.queue or wanted.reservation}
    limit = [f"-l walltime={clock(wanted.walltime)}"] if wanted.walltime else []
    select = [f"-l select={wanted.nodes}{share}{of_node}", f"-l place={place}"]
    return [*select, *(f"{name} {value}" for name, value in said.items() if value), *limit, *wanted.extra]


def submit(script: Path) -> str:
    """See ``BatchSystem``."""
    return _SUBMITTER.submit(script)


def limit_s(walltime: str) -> int:
    """See ``BatchSystem``."""
    return seconds_of(walltime)


def seconds_left(job: str) -> None:
    """See ``BatchSystem``: not asked. The script of a job passes its limit on."""
    del job


def state_of(job: str) -> JobState:
    """See ``BatchSystem``."""
    done = ask([ASKED, "-x", "-f", "-F", "json", job], TITLE, STATE_TIMEOUT_S)
    if done is None:
        return UNKNOWN
    if done.returncode != 0:
        return GONE if _NO_SUCH_JOB.search(done.stderr) else UNKNOWN
    return parse_state(done.stdout)


def parse_state(text: str) -> JobState:
    """Read what ``qstat -x -f -F json`` says of one job."""
    try:
        # Variables of the job's environment stand in it, with characters that JSON does not allow.
        jobs = cast("dict[str, dict[str, dict[str, Any]]]", parse_json(text, strict=False))["Jobs"]
        said = next(iter(jobs.values()))
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return UNKNOWN
    word = str(said.get("job_state", ""))
    stage = _STAGES.get(word, "unknown")
    reason = str(said.get("comment", ""))
    if stage != "over":
        return JobState(word, stage, reason if stage == "waits" else "")
    return _ended(word, reason, int(said.get("Exit_status", -1)), int(said.get("substate", 0)))


def _ended(word: str, reason: str, status: int, substate: int) -> JobState:
    signal = status - _SIGNALLED if status > _SIGNALLED else 0
    end: End = "wished" if substate == _DELETED else "itself" if 0 <= status < _SIGNALLED else "killed"
    return JobState(word, "over", reason, status if 0 < status < _SIGNALLED else 0, signal, end)


def withdraw(job: str) -> None:
    """See ``BatchSystem``."""
    ask(["qdel", job], TITLE)


def ask_to_end(job: str) -> None:
    """See ``BatchSystem``."""
    ask(["qsig", "-s", "TERM", job], TITLE)
