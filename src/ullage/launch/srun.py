# SPDX-License-Identifier: Apache-2.0
"""Slurm's own: srun, as steps of the job that we are in."""

import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import DeadRank, Family, Launcher, Remains, bound_cores, by_own_mpiexec, ranks_outnumber
from ullage.launch.hosts import NO_HOSTS, Hosts
from ullage.launch.mpich import YIELDING as MPICH_YIELDING
from ullage.model.plan import Layout
from ullage.system.allocation import Scheduler, node_names, nodes_of_job
from ullage.system.asking import said_by

NAME: Final = "srun"
SCHEDULER: Final[Scheduler] = "slurm"
PROGRAM: Final = "srun"
INSIDE: Final = "salloc or sbatch"

# How the ranks of each MPI find each other: the first that a site's Slurm has. Under any other, each would be alone.
# The mpich wheel and Debian's know PMI-2, but not the PMIx of Slurm.
_PLUGINS: Final[dict[Family, tuple[str, ...]]] = {"openmpi": ("pmix",), "mpich": ("pmi2",), "other": ("pmix", "pmi2")}
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
class Srun:
    """Launches steps.

    ``plugin``: for ``--mpi``; ``cores``: of a node of the job, None when not known; ``excluded``: nodes of it to leave
    out.
    """

    program: Path
    plugin: str
    family: Family = "other"
    cores: int | None = None
    name: str = NAME
    hosts: Hosts = NO_HOSTS
    excluded: tuple[str, ...] = ()

    @property
    def remains(self) -> Remains:
        """See ``Launcher``: Slurm removes what its steps leave on the nodes."""
        return Remains()

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``.

        A rank that dies ends the step (-K); without it the others may wait for ever under PMI-2. What a shell or a
        batch script has asked of the job, such as fewer tasks on a node, does not count for the step.
        """
        words = [*self._head(step_name()), f"--mpi={self.plugin}", "-K", f"--ntasks={layout.ranks}"]
        if layout.nodes is not None:
            on_each = layout.ranks_per_node or -(-layout.ranks // layout.nodes)
            words += [f"--nodes={layout.nodes}", f"--ntasks-per-node={on_each}"]
        words += [*self._left_out(), *self._bound(layout)]
        return [*words, str(engine), "run", str(plan)]

    def _head(self, name: str) -> list[str]:
        # A batch script or an interactive shell may be a step that holds the job's processors itself.
        return [*self._of_fewer_nodes(), str(self.program), "--unbuffered", "--overlap", f"--job-name={name}"]

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

    def _bound(self, layout: Layout) -> list[str]:
        width = bound_cores(layout, self.cores)
        if width is None:
            # They may be more than the processors, and Slurm starts those only when it is told to.
            return ["--overcommit", "--cpu-bind=none", "--distribution=block:block"]
        return [f"--cpus-per-task={width}", "--cpu-bind=cores", "--distribution=block:block"]

    def on_this_node(self) -> "Srun":
        """See ``Launcher``: the job's nodes are all that there is."""
        return self

    @property
    def nodes(self) -> int:
        """See ``Launcher``."""
        return nodes_of_job() - len(self.excluded)

    def without(self, nodes: Sequence[str]) -> "Srun":
        """See ``Launcher``: nodes that the job does not have need no word."""
        there = node_names()
        return replace(self, excluded=tuple(name for name in there if name in {*self.excluded, *nodes}))

    def broadcast(self, source: Path, place: Path) -> list[str]:
        """See ``staging.Broadcasting``: Slurm's own, from node to node."""
        return ["sbcast", "--preserve", str(source), str(place)]

    def on_every_node(self, command: Sequence[str]) -> list[str]:
        """See ``staging.Broadcasting``."""
        where = [f"--nodes={self.nodes}", f"--ntasks={self.nodes}", "--ntasks-per-node=1", *self._left_out()]
        return [*self._head(step_name()), "--mpi=none", "--overcommit", "--cpu-bind=none", *where, *command]

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        """See ``Launcher``."""
        where = ["--nodes=1", "--ntasks=1", f"--nodelist={host}"]
        return [*self._head(step_name()), "--mpi=none", "--overcommit", "--cpu-bind=none", *where, *command]

    def environment(self, layout: Layout) -> dict[str, str]:
        """See ``Launcher``: ranks yield only where they outnumber the cores."""
        shares = ranks_outnumber(layout, self.cores)
        if self.family == "openmpi":
            return {"OMPI_MCA_mpi_yield_when_idle": "1" if shares else "0"}
        return dict(MPICH_YIELDING) if shares and self.family == "mpich" else {}

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``. Ranks that were ended because another or a node died stand behind it, or are left out."""
        nodes = _LOST_NODE.findall(stderr)
        lost = [DeadRank(None, node, "reported by Slurm", with_node=True) for node in nodes]
        found = [
            DeadRank(rank, match["node"], _cause(match["how"]))
            for match in _ENDED.finditer(stderr)
            if match["how"] not in _CONSEQUENCES
            for rank in _numbers(match["ranks"])
        ]
        return lost or sorted(found, key=lambda dead: dead.cause.startswith("exit"))

    def end_elsewhere(self) -> None:
        """See ``Launcher``: a step whose srun was killed goes on by itself."""
        job = os.environ.get("SLURM_JOB_ID", "")
        listed = said_by(["squeue", "--steps", "--noheader", f"--jobs={job}", "--format=%i %j"])
        for line in listed.splitlines():
            step, _, name = line.strip().partition(" ")
            if name.strip() == step_name():
                said_by(["scancel", step])


def step_name() -> str:
    """Return the name of the steps that this process starts."""
    return f"ullage-{os.getpid()}"


def plugins(program: Path) -> list[str]:
    """Return what ``srun --mpi=list`` lists, in its order; nothing where it cannot be asked."""
    lines = said_by([str(program), "--mpi=list"], _LIST_TIMEOUT_S, also_errors=True).splitlines()
    return [match["name"] for line in lines if (match := _WORD.match(line) or _OLD_STYLE.match(line))]


def plugin_for(family: Family, listed: Sequence[str]) -> str | None:
    """Return the first of ``listed`` by which ranks of that MPI find each other, or None."""
    return next((name for name in _PLUGINS[family] if name in listed), None)


def in_job(program: Path, family: Family, cores: int | None, own: str) -> Launcher:
    """See ``JobLauncherModule``."""
    listed = plugins(program)
    plugin = plugin_for(family, listed)
    if plugin is None:
        wanted = " or ".join(_PLUGINS[family])
        raise UserError(
            f"this Slurm has no {wanted}, which the engine's MPI needs (`{program} --mpi=list`: {', '.join(listed)})",
            "--launcher srun",
            by_own_mpiexec(own),
            EXIT_ENVIRONMENT,
        )
    return Srun(program, plugin, family, cores)


def _cause(how: str) -> str:
    if left := _EXIT.fullmatch(how):
        return f"exit code {left[1]}"
    number = next((one for one in signal.valid_signals() if signal.strsignal(one) == how), None)
    return how if number is None else f"signal {int(number)} ({how})"


def _numbers(text: str) -> list[int]:
    """Read ``0-2,5``."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
