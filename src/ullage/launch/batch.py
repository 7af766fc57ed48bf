# SPDX-License-Identifier: Apache-2.0
"""What a batch system is: how a job that runs Ullage is written, submitted, watched and withdrawn.

One file a system has what differs, as data, and the launcher of ranks that belongs to it.

Inside the job the same command line goes on with ``--launcher here``: one job, many launches, and what depends on the
machine is settled on its own nodes.
"""

import math
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from string import Template
from typing import Final, Literal, TypeAlias

from ullage.errors import EXIT_ENVIRONMENT, UserError, one_line
from ullage.system.allocation import PPN_VARIABLE

# A client waits long for a server that restarts.
_TIMEOUT_S: Final = 60
# Who follows a job asks again, and reads records in between.
_STATE_TIMEOUT_S: Final = 10
# So long before the limit a job is warned. Slurm looks every 30 s, and warns earlier rather than later.
_WARNING_S: Final = 60
_BEFORE_WARNING_S: Final = 35
# Systems take brackets, commas and ALL for several nodes.
_NODE: Final = re.compile(r"(?!all$)[a-z0-9][a-z0-9._-]*", re.IGNORECASE)
_LONGEST_REASON: Final = 200
_CLOCK: Final = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+)")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}

Stage: TypeAlias = Literal["waits", "runs", "over", "unknown"]
"""Where a job is. ``unknown``: the batch system did not answer, so nothing is concluded."""
End: TypeAlias = Literal["itself", "killed", "wished"]
"""How it ended: by itself, killed by its batch system (limit, node), or as somebody wished or nobody knows why."""


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What a job asks of its batch system. Empty texts, and 0 for ``ppn``: the site's defaults.

    ``ppn``: processors to use on each node. ``extra``: further words of the command that submits. ``exclude``: nodes
    not to be given.
    """

    nodes: int = 1
    ppn: int = 0
    account: str = ""
    queue: str = ""
    walltime: str = ""
    reservation: str = ""
    constraint: str = ""
    exclusive: bool = True
    extra: list[str] = field(default_factory=list[str])
    modules: list[str] = field(default_factory=list[str])
    exclude: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class JobState:
    """What a batch system says of a job. ``code``, ``signal`` and ``end``: of its script, once it has ended."""

    state: str
    stage: Stage
    reason: str = ""
    code: int = 0
    signal: int = 0
    end: End = "wished"

    @property
    def is_unknown(self) -> bool:
        """Whether the batch system did not answer."""
        return self.stage == "unknown"

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.stage == "over"


UNKNOWN: Final = JobState("UNKNOWN", "unknown")
# Systems forget jobs that have ended. Their script may have said how (``JobText.ended``).
GONE: Final = JobState("GONE", "over")
ENDED_VARIABLE: Final = "ULLAGE_JOB_ENDED"
"""Tells the run in a job where ``JobText.ended`` is."""


@dataclass(frozen=True, slots=True)
class JobText:
    """What the script of a job says besides what it asks for.

    ``command``: to run on the first of its nodes, in ``folder``. ``output``: where what it says goes. ``ended``: file
    for its exit code. ``verb`` and ``launcher``: of the command line that wrote it.
    """

    name: str
    output: Path
    ended: Path
    folder: Path
    command: Sequence[str]
    verb: str
    launcher: str


def seconds_of(walltime: str) -> int:
    """Read ``00:30:00``, ``30:00``, ``30m`` or ``2h``. Raise ``UserError`` for anything else."""
    unit = _UNITS.get(walltime[-1:])
    if unit is not None and walltime[:-1].isdecimal():
        return int(walltime[:-1]) * unit
    match = _CLOCK.fullmatch(walltime)
    if match is None or ":" not in walltime:
        raise UserError("is no time limit", f"--walltime {walltime}", "write 00:30:00, 30m or 2h")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


def no_answer(_text: str) -> None:
    """Read nothing: what is left of a limit is not asked for. The script of a job passes its limit on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSystem:
    """A batch system: its commands as data, and how its directives are written and its answers read.

    ``suffix``: of scripts. ``typed``: what people type before the script to submit it. ``listed``: what they type to
    see a job, whose id comes at its end. ``is_up``: what tells them whether the system is up. ``submit_words``: the
    command that submits; its answer has the group ``job`` of ``job_pattern``. ``by_stdin``: it reads the script there,
    else its path is the last word. In the other commands ``{job}`` stands for the id: ``asks`` for the state, which
    ``read_state`` reads (an answer that ``forgotten`` fits says that there is no such job); ``withdraws``: ends a job,
    begun or not; ``drains``: keeps new jobs off ``{node}`` (``{short}``: without its domain) for a ``{reason}``;
    ``tells_to_end``: sends SIGTERM to the script of a running job, so that Ullage in it ends as after Ctrl-C;
    ``asks_left``: for what is left of the limit, which ``read_left`` reads. ``directives``: the lines that ask for a
    job; raises ``UserError`` for what this system cannot be asked for. ``path_word``: writes a path into one.
    ``limit_s``: reads a time limit as people write it for this system.
    """

    name: str
    title: str
    suffix: str
    typed: str
    listed: str
    is_up: str
    submit_words: tuple[str, ...]
    job_pattern: "re.Pattern[str]"
    by_stdin: bool = False
    asks: tuple[str, ...]
    read_state: Callable[[str], JobState]
    forgotten: "re.Pattern[str]"
    withdraws: tuple[str, ...]
    drains: tuple[str, ...]
    tells_to_end: tuple[str, ...]
    asks_left: tuple[str, ...] = ()
    read_left: Callable[[str], float | None] = no_answer
    directives: Callable[[JobRequest, str], Iterable[str]]
    path_word: Callable[[Path], str]
    limit_s: Callable[[str], int] = seconds_of

    def job_script(self, wanted: JobRequest, text: JobText) -> str:
        """Return the script of a job. Raise ``UserError`` for what this system cannot be asked for."""
        # A batch system may not take all characters.
        name = re.sub(r"[^A-Za-z0-9_.+-]", "_", text.name)[:200]
        return _template(f"{self.name}.job.in").substitute(
            verb=text.verb,
            launcher=text.launcher,
            lines="\n".join(self.directives(wanted, name)),
            output=self.path_word(text.output),
            modules=f"{_modules(wanted)}{_most_processors(wanted)}",
            command=shlex.join(text.command),
            ended=shlex.quote(str(text.ended)),
            body=self.job_body(wanted, text).rstrip("\n"),
        )

    def job_body(self, wanted: JobRequest, text: JobText) -> str:
        """Return what a job does, for systems that send signals to all processes of a job, and warn of no limit."""
        warned_s = _warned_after(self.limit_s(wanted.walltime)) if wanted.walltime else None
        return _template("job.body.in").substitute(
            modules=_modules(wanted),
            folder=shlex.quote(str(text.folder)),
            command=shlex.join(text.command),
            warning="" if warned_s is None else _template("job.warning.in").substitute(seconds=warned_s),
            ended=shlex.quote(str(text.ended)),
        )

    def submit(self, script: Path) -> str:
        """Submit a script and return the job's id. Raise ``UserError`` (exit code 3) with what the system says."""
        words = list(self.submit_words) if self.by_stdin else [*self.submit_words, str(script)]
        done = self._ask(words, script=script if self.by_stdin else None)
        if done is None:
            what = f"{words[0]} did not answer within {_TIMEOUT_S} s"
            right = f"ask `{self.is_up}` whether {self.title} is up"
            raise UserError(what, f"--launcher {self.name}", right, EXIT_ENVIRONMENT)
        found = self.job_pattern.search(done.stdout.strip())
        if done.returncode != 0 or found is None:
            said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            what = " / ".join(said) or f"exit code {done.returncode}"
            raise UserError(what, words[0], "", EXIT_ENVIRONMENT)
        return found["job"]

    def seconds_left(self, job: str) -> float | None:
        """Return what is left of the time limit of a running job; None where that is not said, or there is none."""
        done = self._ask(_of_job(self.asks_left, job), _STATE_TIMEOUT_S) if self.asks_left else None
        return None if done is None or done.returncode != 0 else self.read_left(done.stdout.strip())

    def state_of(self, job: str) -> JobState:
        """Return what is said of a job; ``UNKNOWN`` where nobody answers, ``GONE`` where there is no such job."""
        done = self._ask(_of_job(self.asks, job), _STATE_TIMEOUT_S)
        if done is None:
            return UNKNOWN
        state = self.read_state(done.stdout)
        return GONE if state == UNKNOWN and self.forgotten.search(done.stdout + done.stderr) else state

    def withdraw(self, job: str) -> None:
        """End a job, whether it has begun or not."""
        self._ask(_of_job(self.withdraws, job))

    def ask_to_end(self, job: str) -> None:
        """Send a signal to the script of a running job, so that Ullage in it ends as after Ctrl-C."""
        self._ask(_of_job(self.tells_to_end, job))

    def drain_words(self, node: str, reason: str) -> list[str]:
        """Return the command that keeps new jobs off a node. Raise ``UserError`` for what may name several nodes."""
        if not _NODE.fullmatch(node):
            raise UserError("is no name of one node", node, "drain it by hand")
        said = {"node": node, "short": node.partition(".")[0], "reason": one_line(f"ullage: {reason}", _LONGEST_REASON)}
        return [word.format_map(said) for word in self.drains]

    def drain(self, words: list[str]) -> str:
        """Run such a command; return why that failed, or nothing."""
        done = self._ask(words)
        if done is None:
            return f"{words[0]} did not answer within {_TIMEOUT_S} s"
        return f"{words[0]}: {done.stderr.strip() or f'exit code {done.returncode}'}" if done.returncode else ""

    def _ask(
        self, words: list[str], timeout_s: float = _TIMEOUT_S, script: Path | None = None
    ) -> "subprocess.CompletedProcess[str] | None":
        """Run a command of the system; None where it does not answer. Raise ``UserError`` where there is none.

        ``script``: what it reads from stdin.
        """
        try:
            with Path(script or os.devnull).open(encoding="utf-8") as stdin:
                return subprocess.run(
                    words, stdin=stdin, capture_output=True, text=True, timeout=timeout_s, check=False
                )
        except FileNotFoundError as error:
            what, right = f"no {words[0]} found", f"run it where commands of {self.title} are, such as a login node"
            raise UserError(what, "PATH", right, EXIT_ENVIRONMENT) from error
        except subprocess.TimeoutExpired:
            return None


def _modules(wanted: JobRequest) -> str:
    return "".join(f"module load {shlex.quote(one)}\n" for one in wanted.modules)


def _most_processors(wanted: JobRequest) -> str:
    """Return the line that holds a job with whole nodes, which is given all processors, to those it has asked for."""
    return f"export {PPN_VARIABLE}={wanted.ppn}\n" if wanted.ppn and wanted.exclusive else ""


def _of_job(words: Iterable[str], job: str) -> list[str]:
    return [word.replace("{job}", job) for word in words]


def _template(name: str) -> Template:
    return Template(resources.files("ullage.launch").joinpath(name).read_text(encoding="utf-8"))


def _warned_after(seconds: float) -> int:
    return int(max(seconds - _WARNING_S, seconds // 2))


def usable_seconds(seconds: float) -> float:
    """Return how long a job may measure whose time limit, or what is left of it, is ``seconds``."""
    return max(0, _warned_after(seconds) - _BEFORE_WARNING_S)


def clock(walltime: str) -> str:
    """Write a time limit as ``00:30:00``."""
    seconds = seconds_of(walltime)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def whole_minutes(walltime: str) -> int:
    """Write a time limit in minutes, rounded up."""
    return math.ceil(seconds_of(walltime) / 60)


def plain_path(path: Path, forbidden: str) -> str:
    """Return a path as a word of a directive. Raise ``UserError`` where it has a blank or one of ``forbidden``."""
    text = str(path)
    if any(character.isspace() or character in forbidden for character in text):
        what = f"a batch script cannot write to a path with blanks or one of {' '.join(forbidden)}"
        raise UserError(what, text, "choose another --result")
    return text
