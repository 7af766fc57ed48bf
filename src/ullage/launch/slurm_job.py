# SPDX-License-Identifier: Apache-2.0
"""Slurm jobs that run Ullage itself: their script, and how they are submitted, watched and withdrawn.

Inside the job the same command line goes on with ``--launcher srun``: one job, many launches, and what depends on the
machine is settled on its own nodes.
"""

import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from string import Template
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.slurm_script import sbatch_word
from ullage.results.folder import write_atomically

# A client waits long for a controller that restarts.
_TIMEOUT_S: Final = 60
# Who follows a job asks again, and reads records in between.
_STATE_TIMEOUT_S: Final = 10
_PENDING: Final = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
_RUNNING: Final = frozenset({"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"})
_FIELD: Final = re.compile(r"(\w+)=(\S*)")
UNKNOWN: Final = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a job asks of Slurm. ``extra``: further words of sbatch; empty texts: the site's defaults."""

    nodes: int = 1
    account: str = ""
    queue: str = ""
    walltime: str = ""
    extra: list[str] = field(default_factory=list[str])
    modules: list[str] = field(default_factory=list[str])

    def lines(self) -> list[str]:
        """Return the #SBATCH lines of what is said."""
        said = {"account": self.account, "partition": self.queue, "time": self.walltime}
        return [*(f"#SBATCH --{name}={value}" for name, value in said.items() if value), *self.extra_lines()]

    def extra_lines(self) -> list[str]:
        """Return an #SBATCH line for each of ``extra``."""
        return [f"#SBATCH {word}" for word in self.extra]


@dataclass(frozen=True, slots=True)
class JobState:
    """What Slurm says of a job. ``code`` and ``signal``: of its script, once it has ended."""

    state: str
    reason: str = ""
    code: int = 0
    signal: int = 0

    @property
    def is_pending(self) -> bool:
        """Whether it has not begun."""
        return self.state in _PENDING

    @property
    def is_unknown(self) -> bool:
        """Whether Slurm did not answer."""
        return self.state == UNKNOWN

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way. Of a state that nobody could tell, nothing is concluded."""
        return self.state not in _PENDING | _RUNNING | {UNKNOWN}


def job_script(wanted: Wanted, name: str, output: Path, command: Sequence[str], verb: str, launcher: str) -> str:
    """Return the script of a job that runs ``command`` on the first of its nodes."""
    template = Template(resources.files("ullage.launch").joinpath("slurm.job.in").read_text(encoding="utf-8"))
    modules = [f"module load {shlex.quote(one)}" for one in wanted.modules]
    return template.substitute(
        verb=verb,
        launcher=launcher,
        name=name,
        nodes=wanted.nodes,
        lines="\n".join(wanted.lines()) or "# No account, partition and time limit were given: the site's own hold.",
        output=sbatch_word(output),
        modules="\n".join(["", *modules]) if modules else "",
        command=shlex.join(command),
    )


def submit(script: Path, text: str) -> str:
    """Write and submit a script; return the job's id. Raise ``UserError`` (exit code 3) with what sbatch says."""
    write_atomically(script, text)
    done = _ask(["sbatch", "--parsable", str(script)])
    if done is None:
        what = f"sbatch did not answer within {_TIMEOUT_S} s"
        raise UserError(what, "--launcher slurm", "ask `sinfo` whether Slurm is up", EXIT_ENVIRONMENT)
    job = done.stdout.strip().partition(";")[0]
    if done.returncode != 0 or not job.isdecimal():
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise UserError(" / ".join(said) or f"exit code {done.returncode}", "sbatch", "", EXIT_ENVIRONMENT)
    return job


def state_of(job: str) -> JobState:
    """Return what Slurm says of a job; ``UNKNOWN`` where it does not answer, ``GONE`` where it knows no such job."""
    done = _ask(["scontrol", "show", "job", "--oneliner", job], _STATE_TIMEOUT_S)
    if done is None:
        return JobState(UNKNOWN)
    if done.returncode != 0:
        return JobState("GONE" if "Invalid job id" in done.stderr else UNKNOWN)
    return parse_state(done.stdout)


def parse_state(text: str) -> JobState:
    """Read what ``scontrol show job --oneliner`` says."""
    said = dict(_FIELD.findall(text))
    code, _, number = said.get("ExitCode", "0:0").partition(":")
    reason = said.get("Reason", "")
    return JobState(
        said.get("JobState", UNKNOWN),
        "" if reason == "None" else reason,
        int(code) if code.isdecimal() else 0,
        int(number) if number.isdecimal() else 0,
    )


def withdraw(job: str) -> None:
    """End a job, whether it has begun or not."""
    _ask(["scancel", job])


def ask_to_end(job: str) -> None:
    """Send SIGTERM to the script of a running job, which is Ullage: it ends as after Ctrl-C."""
    _ask(["scancel", "--batch", "--signal=TERM", job])


def _ask(words: list[str], timeout_s: float = _TIMEOUT_S) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except FileNotFoundError as error:
        what = f"no {words[0]} found"
        raise UserError(what, "PATH", "run it on a login node of a Slurm cluster", EXIT_ENVIRONMENT) from error
    except subprocess.TimeoutExpired:
        return None
