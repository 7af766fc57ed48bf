# SPDX-License-Identifier: Apache-2.0
"""Jobs of Slurm: sbatch, scontrol, scancel."""

import re
import shlex
from pathlib import Path
from typing import Final

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
    seconds_of,
    template,
)
from ullage.launch.slurm_script import sbatch_word, sharing

NAME: Final = "slurm"
TITLE: Final = "Slurm"
SUFFIX: Final = "sbatch"
TYPED: Final = "sbatch"
ASKED: Final = "scontrol"
LIST: Final = "squeue --jobs="

_JOB: Final = re.compile(r"^(?P<job>\d+)(?:;\S*)?$")
_SUBMITTER: Final = Submitter(NAME, TITLE, ("sbatch", "--parsable"), _JOB, "sinfo")
_PENDING: Final = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
_RUNNING: Final = frozenset({"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"})
_BY_ITSELF: Final = frozenset({"COMPLETED", "FAILED"})
_KILLED: Final = frozenset({"TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"})
_FIELD: Final = re.compile(r"(\w+)=(\S*)")
# Its own words: 30 (minutes), 2-12 (days and hours), 2-12:30, 2-12:30:00.
_MINUTES: Final = re.compile(r"\d+")
_DAYS: Final = re.compile(r"(\d+)-(\d+)(?::(\d+))?(?::(\d+))?")


def _lines(wanted: JobRequest) -> list[str]:
    """Return the #SBATCH lines of what is said."""
    said = {
        "ntasks-per-node": str(wanted.ppn or ""),
        "account": wanted.account,
        "partition": wanted.queue,
        "time": _time_word(wanted.walltime),
        "reservation": wanted.reservation,
        "constraint": wanted.constraint,
        "exclude": ",".join(wanted.exclude),
    }
    return [
        *(f"#SBATCH --{name}={value}" for name, value in said.items() if value),
        *(f"#SBATCH {word}" for word in wanted.extra),
    ]


def _time_word(walltime: str) -> str:
    """Return a time limit in words of Slurm, which has no units."""
    return clock(walltime) if walltime[-1:].isalpha() else walltime


def limit_s(walltime: str) -> int:
    """See ``BatchSystem``."""
    if _MINUTES.fullmatch(walltime):
        return 60 * int(walltime)
    if (found := _DAYS.fullmatch(walltime)) is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return seconds_of(walltime)


def seconds_left(job: str) -> float | None:
    """See ``BatchSystem``. A job without a limit has ``UNLIMITED`` left."""
    done = ask(["squeue", "--noheader", f"--jobs={job}", "--format=%L"], TITLE, STATE_TIMEOUT_S)
    word = "" if done is None or done.returncode != 0 else done.stdout.strip()
    return limit_s(word) if ":" in word else None


def job_script(wanted: JobRequest, text: JobText) -> str:
    """See ``BatchSystem``."""
    modules = [f"module load {shlex.quote(one)}" for one in wanted.modules]
    return template("slurm.job.in").substitute(
        verb=text.verb,
        launcher=text.launcher,
        name=text.name,
        nodes=wanted.nodes,
        share=sharing(exclusive=wanted.exclusive),
        lines="\n".join(_lines(wanted)) or "# No account, partition and time limit were given: the site's own hold.",
        output=sbatch_word(text.output),
        modules="\n".join(["", *modules]) if modules else "",
        command=shlex.join(text.command),
    )


def submit(script: Path) -> str:
    """See ``BatchSystem``."""
    return _SUBMITTER.submit(script)


def state_of(job: str) -> JobState:
    """See ``BatchSystem``."""
    done = ask(["scontrol", "show", "job", "--oneliner", job], TITLE, STATE_TIMEOUT_S)
    if done is None:
        return UNKNOWN
    if done.returncode != 0:
        return GONE if "Invalid job id" in done.stderr else UNKNOWN
    return parse_state(done.stdout)


def parse_state(text: str) -> JobState:
    """Read what ``scontrol show job --oneliner`` says."""
    said = dict(_FIELD.findall(text))
    if "JobState" not in said:
        return UNKNOWN
    word = said["JobState"]
    code, _, number = said.get("ExitCode", "0:0").partition(":")
    reason = said.get("Reason", "")
    stage: Stage = "waits" if word in _PENDING else "runs" if word in _RUNNING else "over"
    end: End = "itself" if word in _BY_ITSELF else "killed" if word in _KILLED else "wished"
    return JobState(
        word,
        stage,
        "" if reason == "None" else reason,
        int(code) if code.isdecimal() else 0,
        int(number) if number.isdecimal() else 0,
        end,
    )


def withdraw(job: str) -> None:
    """See ``BatchSystem``."""
    ask(["scancel", job], TITLE)


def ask_to_end(job: str) -> None:
    """See ``BatchSystem``: the script is Ullage itself."""
    ask(["scancel", "--batch", "--signal=TERM", job], TITLE)
