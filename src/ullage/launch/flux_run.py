# SPDX-License-Identifier: Apache-2.0
"""Flux's own: flux run, as jobs of the instance that a batch job is. Not run on a real instance."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import DeadRank, Family, Launcher, Remains, bound_cores, by_own_mpiexec, ranks_outnumber
from ullage.launch.hosts import NO_HOSTS, Hosts
from ullage.launch.mpich import YIELDING as MPICH_YIELDING
from ullage.launch.wrapped import first_ended, wrapper
from ullage.model.plan import Layout
from ullage.system.allocation import Scheduler, nodes_of_job
from ullage.system.asking import said_by

NAME: Final = "flux-run"
SCHEDULER: Final[Scheduler] = "flux"
PROGRAM: Final = "flux"
INSIDE: Final = "flux alloc or flux batch"


@dataclass(frozen=True, slots=True)
class FluxRun:
    """Launches jobs of the instance. ``cores``: of a node of the job, None when not known."""

    program: Path
    family: Family = "other"
    cores: int | None = None
    name: str = NAME
    hosts: Hosts = NO_HOSTS

    @property
    def remains(self) -> Remains:
        """See ``Launcher``: Flux removes what its jobs leave on the nodes."""
        return Remains()

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``. A rank that dies ends the job (exit-on-error), as the others may wait for ever."""
        words = [*self._head(), "-o", "exit-on-error", *self._placed(layout)]
        return [*words, *wrapper("$FLUX_TASK_RANK"), str(engine), "run", str(plan)]

    def _head(self) -> list[str]:
        return [str(self.program), "run", "--unbuffered", f"--job-name={job_name()}"]

    def _placed(self, layout: Layout) -> list[str]:
        """Return the words that place and bind ranks.

        Ranks that are not bound may be more than the processors: they get whole nodes, not cores of their own.
        """
        width = bound_cores(layout, self.cores)
        where = [] if layout.nodes is None else [f"--nodes={layout.nodes}"]
        if width is not None:
            each = [f"--ntasks={layout.ranks}", f"--cores-per-task={width}"]
            return [*where, *each, "-o", "cpu-affinity=per-task"]
        nodes = layout.nodes or 1
        on_each = -(-layout.ranks // nodes)
        if on_each * nodes != layout.ranks:
            what = f"flux run starts as many ranks on each node, and {layout.ranks} do not divide by {nodes} nodes"
            raise UserError(what, "--launcher flux-run", f"use {on_each * nodes} ranks, or fewer on each node")
        return [f"--nodes={nodes}", f"--tasks-per-node={on_each}", "-o", "cpu-affinity=off"]

    def on_this_node(self) -> "FluxRun":
        """See ``Launcher``: the job's nodes are all that there is."""
        return self

    @property
    def nodes(self) -> int:
        """See ``Launcher``."""
        return nodes_of_job()

    def without(self, nodes: Sequence[str]) -> None:
        """See ``Launcher``: not tried on a real one, so nothing goes on there without a node."""
        del nodes

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        """See ``Launcher``."""
        where = ["--ntasks=1", f"--requires=host:{host}", "-o", "cpu-affinity=off"]
        return [*self._head(), *where, *command]

    def environment(self, layout: Layout) -> dict[str, str]:
        """See ``Launcher``: ranks yield only where they outnumber the cores."""
        shares = ranks_outnumber(layout, self.cores)
        if self.family == "openmpi":
            return {"OMPI_MCA_mpi_yield_when_idle": "1" if shares else "0"}
        return dict(MPICH_YIELDING) if shares and self.family == "mpich" else {}

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``: Flux says only how some rank has ended; the shell around each rank says more."""
        return first_ended(stderr)

    def end_elsewhere(self) -> None:
        """See ``Launcher``: a job whose ``flux run`` was killed goes on by itself."""
        listed = said_by([str(self.program), "jobs", "-n", "--format={id} {name}"])
        ours = [line.split()[0] for line in listed.splitlines() if line.split()[1:] == [job_name()]]
        for job in ours:
            said_by([str(self.program), "cancel", job])


def job_name() -> str:
    """Return the name of the jobs that this process starts."""
    return f"ullage-{os.getpid()}"


def in_job(program: Path, family: Family, cores: int | None, own: str) -> Launcher:
    """See ``JobLauncherModule``."""
    if os.environ.get("FLUX_JOB_ID"):
        what = "this is a task of a Flux job without an instance of its own, and flux run would queue another job"
        right = f"start ullage by flux batch or in flux alloc, or {by_own_mpiexec(own)}"
        raise UserError(what, f"--launcher {NAME}", right, EXIT_ENVIRONMENT)
    return FluxRun(program, family, cores)
