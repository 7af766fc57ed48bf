# SPDX-License-Identifier: Apache-2.0
"""Slurm: jobs by sbatch, scontrol and scancel, and ranks by srun, as steps of the job that we are in."""

import os
import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, Self

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import DeadRank, Family, JobLauncher, bound_cores, by_own_mpiexec, by_signal, own_name
from ullage.launch.batch import UNKNOWN, BatchSystem, End, JobRequest, JobState, Stage, clock, seconds_of
from ullage.launch.slurm_script import sbatch_word, sharing
from ullage.model.plan import Layout
from ullage.system.allocation import Scheduler, node_names, nodes_of_job
from ullage.system.files import parse_cpu_list, said_by

_PENDING: Final = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
_RUNNING: Final = frozenset({"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"})
_KILLED: Final = frozenset({"TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"})
_FIELD: Final = re.compile(r"(\w+)=(\S*)")
# Its own words: 30 (minutes), 2-12 (days and hours), 2-12:30, 2-12:30:00.
_MINUTES: Final = re.compile(r"\d+")
_DAYS: Final = re.compile(r"(\d+)-(\d+)(?::(\d+))?(?::(\d+))?")


def limit_s(walltime: str) -> int:
    """Return the seconds of a time limit, as people write it for Slurm. Raise ``UserError`` for no limit."""
    if _MINUTES.fullmatch(walltime):
        return 60 * int(walltime)
    if (found := _DAYS.fullmatch(walltime)) is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return seconds_of(walltime)


def _directives(wanted: JobRequest, name: str) -> Iterator[str]:
    yield f"#SBATCH --job-name={name}"
    yield f"#SBATCH --nodes={wanted.nodes}"
    yield sharing(exclusive=wanted.exclusive)
    # Slurm has no units of time.
    time = clock(wanted.walltime) if wanted.walltime[-1:].isalpha() else wanted.walltime
    said = {
        "ntasks-per-node": str(wanted.ppn or ""),
        "account": wanted.account,
        "partition": wanted.queue,
        "time": time,
        "reservation": wanted.reservation,
        "constraint": wanted.constraint,
        "exclude": ",".join(wanted.exclude),
    }
    words = [*(f"--{option}={value}" for option, value in said.items() if value), *wanted.extra]
    for word in words:
        yield f"#SBATCH {word}"
    if not words:
        yield "# No account, partition and time limit were given: the site's own hold."


def parse_state(text: str) -> JobState:
    """Read what ``scontrol show job --oneliner`` says."""
    said = dict(_FIELD.findall(text))
    if "JobState" not in said:
        return UNKNOWN
    word, reason = said["JobState"], said.get("Reason", "")
    code, _, number = said.get("ExitCode", "0:0").partition(":")
    stage: Stage = "waits" if word in _PENDING else "runs" if word in _RUNNING else "over"
    end: End = "itself" if word in {"COMPLETED", "FAILED"} else "killed" if word in _KILLED else "wished"
    code_of, signal_of = (int(one) if one.isdecimal() else 0 for one in (code, number))
    return JobState(word, stage, "" if reason == "None" else reason, code_of, signal_of, end)


SYSTEM: Final = BatchSystem(
    name="slurm",
    title="Slurm",
    suffix="sbatch",
    typed="sbatch",
    listed="squeue --jobs=",
    is_up="sinfo",
    submit_words=("sbatch", "--parsable"),
    job_pattern=re.compile(r"^(?P<job>\d+)(?:;\S*)?$"),
    asks=("scontrol", "show", "job", "--oneliner", "{job}"),
    read_state=parse_state,
    forgotten=re.compile("Invalid job id"),
    withdraws=("scancel", "{job}"),
    drains=("scontrol", "update", "nodename={short}", "state=drain", "reason={reason}"),
    tells_to_end=("scancel", "--batch", "--signal=TERM", "{job}"),  # the script is Ullage itself
    asks_left=("squeue", "--noheader", "--jobs={job}", "--format=%L"),
    # A job without a limit has UNLIMITED left.
    read_left=lambda word: limit_s(word) if ":" in word else None,
    directives=_directives,
    path_word=sbatch_word,
    limit_s=limit_s,
)


# How the ranks of each MPI find each other: the first that a site's Slurm has. Under any other, each would be alone.
# The mpich wheel and Debian's know PMI-2, but not the PMIx of Slurm.
_PLUGINS: Final[dict[Family, tuple[str, ...]]] = {
    "openmpi": ("pmix",),
    "mpich": ("pmi2",),
    "other": ("pmix", "pmi2"),
    "single": (),
}
_WORD: Final = re.compile(r"^\s*(?P<name>[a-z][a-z0-9_]*)\s*$")
_OLD_STYLE: Final = re.compile(r"^srun: (?P<name>[a-z][a-z0-9_]*)$")
_LIST_TIMEOUT_S: Final = 20
_ENDED: Final = re.compile(
    r"^srun: error: (?P<node>[^\s:]+): tasks? (?P<ranks>[0-9,-]+): (?P<how>.+?)(?: \(core dumped\))?$", re.MULTILINE
)
# Slurm says this only of nodes that it has lost; the ranks there are then killed as those elsewhere are.
_LOST_NODE: Final = re.compile(r"^srun: error: Node failure on (\S+)", re.MULTILINE)
_EXIT: Final = re.compile(r"Exited with exit code (\d+)")
# What -K does to the ranks that are left when one has died.
_CONSEQUENCES: Final = frozenset({"Terminated"})


@dataclass(frozen=True, slots=True)
class Srun(JobLauncher):
    """Launches steps. ``plugin``: for ``--mpi``; ``excluded``: nodes of the job to leave out."""

    NAME: ClassVar[str] = "srun"
    SCHEDULER: ClassVar[Scheduler] = "slurm"
    PROGRAM: ClassVar[str] = "srun"
    INSIDE: ClassVar[str] = "salloc or sbatch"

    plugin: str = ""
    excluded: tuple[str, ...] = ()

    @classmethod
    def in_job(cls, program: Path, family: Family, cores: int | None, own: str) -> Self:
        lines = said_by([str(program), "--mpi=list"], _LIST_TIMEOUT_S, also_errors=True).splitlines()
        listed = [match["name"] for line in lines if (match := _WORD.match(line) or _OLD_STYLE.match(line))]
        plugin = next((name for name in _PLUGINS[family] if name in listed), None)
        if plugin is None:
            wanted, said = " or ".join(_PLUGINS[family]), f"`{program} --mpi=list`: {', '.join(listed)}"
            what = f"this Slurm has no {wanted}, which the engine's MPI needs ({said})"
            raise UserError(what, "--launcher srun", by_own_mpiexec(own), EXIT_ENVIRONMENT)
        return cls(program, cores, family=family, own=own, plugin=plugin)

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``.

        A rank that dies ends the step (-K); without it the others may wait for ever under PMI-2. What a shell or a
        batch script has asked of the job, such as fewer tasks on a node, does not count for the step.
        """
        words = [*self._head(), f"--mpi={self.plugin}", "-K", f"--ntasks={layout.ranks}"]
        if layout.nodes is not None:
            on_each = layout.ranks_per_node or -(-layout.ranks // layout.nodes)
            words += [f"--nodes={layout.nodes}", f"--ntasks-per-node={on_each}"]
        width = bound_cores(layout, self.cores)
        # Ranks that are not bound may be more than the processors, and Slurm starts those only when it is told to.
        bound = (
            ["--overcommit", "--cpu-bind=none"] if width is None else [f"--cpus-per-task={width}", "--cpu-bind=cores"]
        )
        words += [*self._left_out(), *bound, "--distribution=block:block"]
        return [*words, str(engine), "run", str(plan)]

    def _head(self) -> list[str]:
        # A batch script or an interactive shell may be a step that holds the job's processors itself.
        return [*self._of_fewer_nodes(), str(self.program), "--unbuffered", "--overlap", f"--job-name={own_name()}"]

    def _tool(self, where: Sequence[str], command: Sequence[str]) -> list[str]:
        """Return the words that run a ``command`` which is no program of MPI."""
        return [*self._head(), "--mpi=none", "--overcommit", "--cpu-bind=none", *where, *command]

    def _of_fewer_nodes(self) -> list[str]:
        """Return the words before srun that say of which nodes the job is.

        The pmix plug-in of Slurm 22.05 takes their list from the environment, where a node that has failed still
        stands. Ranks then wait for ever for a message.
        """
        if not self.excluded:
            return []
        left = [name for name in node_names() if name not in self.excluded]
        names, count = ",".join(left), str(len(left))
        said = {"NODELIST": names, "JOB_NODELIST": names, "NNODES": count, "JOB_NUM_NODES": count}
        return ["env", *(f"SLURM_{name}={value}" for name, value in said.items())]

    def _left_out(self) -> list[str]:
        return [f"--exclude={','.join(self.excluded)}"] if self.excluded else []

    @property
    def nodes(self) -> int:
        return nodes_of_job() - len(self.excluded)

    def without(self, nodes: Sequence[str]) -> Self:
        """See ``Launcher``: nodes that the job does not have need no word."""
        there = node_names()
        return replace(self, excluded=tuple(name for name in there if name in {*self.excluded, *nodes}))

    def broadcast(self, source: Path, place: Path) -> list[str]:
        """See ``staging.Broadcasting``: Slurm's own, from node to node."""
        return ["sbcast", "--preserve", str(source), str(place)]

    def on_every_node(self, command: Sequence[str]) -> list[str]:
        where = [f"--nodes={self.nodes}", f"--ntasks={self.nodes}", "--ntasks-per-node=1", *self._left_out()]
        return self._tool(where, command)

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        return self._tool(["--nodes=1", "--ntasks=1", f"--nodelist={host}"], command)

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``. Ranks that were ended because another or a node died stand behind it, or are left out."""
        nodes = _LOST_NODE.findall(stderr)
        lost = [DeadRank(None, node, "reported by Slurm", with_node=True) for node in nodes]
        found = [
            DeadRank(rank, match["node"], _cause(match["how"]))
            for match in _ENDED.finditer(stderr)
            if match["how"] not in _CONSEQUENCES
            for rank in parse_cpu_list(match["ranks"])
        ]
        return lost or sorted(found, key=lambda dead: dead.cause.startswith("exit"))

    def end_elsewhere(self) -> None:
        """See ``Launcher``: a step whose srun was killed goes on by itself."""
        job = os.environ.get("SLURM_JOB_ID", "")
        listed = said_by(["squeue", "--steps", "--noheader", f"--jobs={job}", "--format=%i %j"])
        for line in listed.splitlines():
            step, _, name = line.strip().partition(" ")
            if name.strip() == own_name():
                said_by(["scancel", step])


def _cause(how: str) -> str:
    if left := _EXIT.fullmatch(how):
        return f"exit code {left[1]}"
    number = next((one for one in signal.valid_signals() if signal.strsignal(one) == how), None)
    return how if number is None else by_signal(number)


LAUNCHER: Final = Srun
