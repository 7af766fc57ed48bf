# SPDX-License-Identifier: Apache-2.0
"""Jobs of OpenPBS and PBS Professional: qsub, qstat, qsig, qdel. Inside them the MPI's own mpiexec starts ranks.

Not run on a real server: the answers are read as the public documentation writes them (tests/launch/transcripts).
"""

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from ullage.errors import UserError
from ullage.launch.batch import UNKNOWN, BatchSystem, End, JobRequest, JobState, Stage, clock, plain_path
from ullage.reading import parse_json

_STAGES: Final[dict[str, Stage]] = {
    **dict.fromkeys("QHWTM", "waits"),
    **dict.fromkeys("RESU", "runs"),
    **dict.fromkeys("FX", "over"),
}
# Above this an exit status tells the signal that ended the script; below 0 it is PBS's own reason.
_SIGNALLED: Final = 256
_DELETED: Final = 91


def _directives(wanted: JobRequest, name: str) -> Iterator[str]:
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
    words = (f"{option} {value}" for option, value in said.items() if value)
    for word in (f"-N {name}", *select, *words, *limit, *wanted.extra):
        yield f"#PBS {word}"


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


SYSTEM: Final = BatchSystem(
    name="pbs",
    title="PBS",
    suffix="pbs",
    typed="qsub",
    listed="qstat -x ",
    is_up="qstat -B",
    submit_words=("qsub",),
    job_pattern=re.compile(r"^(?P<job>\d+(?:\.\S+)?)$", re.MULTILINE),
    asks=("qstat", "-x", "-f", "-F", "json", "{job}"),
    read_state=parse_state,
    forgotten=re.compile(r"Unknown Job|has finished", re.IGNORECASE),
    withdraws=("qdel", "{job}"),
    drains=("pbsnodes", "-o", "-C", "{reason}", "{node}"),
    tells_to_end=("qsig", "-s", "TERM", "{job}"),
    directives=_directives,
    path_word=lambda path: plain_path(path, "\"'\\,:"),
)
