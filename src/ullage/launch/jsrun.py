# SPDX-License-Identifier: Apache-2.0
"""IBM's jsrun, as steps of the LSF job that we are in. Not run on a real cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import DeadRank, Family, Launcher, Remains, bound_cores, by_own_mpiexec, ranks_outnumber
from ullage.launch.hosts import NO_HOSTS, Hosts
from ullage.launch.wrapped import first_ended, wrapper
from ullage.model.plan import Layout
from ullage.system.allocation import Scheduler, nodes_of_job

NAME: Final = "jsrun"
SCHEDULER: Final[Scheduler] = "lsf"
PROGRAM: Final = "jsrun"
INSIDE: Final = "bsub -Is or a script of bsub"


@dataclass(frozen=True, slots=True)
class Jsrun:
    """Launches steps. A resource set is a part of a node that ranks are started in.

    ``cores``: of a node of the job, None when not known. ``own``: launcher of the MPI's own mpiexec.
    """

    program: Path
    cores: int | None = None
    name: str = NAME
    hosts: Hosts = NO_HOSTS
    own: str = ""

    @property
    def remains(self) -> Remains:
        """See ``Launcher``: the job step manager removes what its steps leave on the nodes."""
        return Remains()

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``. A rank that dies ends the step, as the others may wait for ever."""
        words = [str(self.program), "--exit_on_error", "1", *self._sets(layout)]
        return [*words, *wrapper("$JSM_NAMESPACE_RANK"), str(engine), "run", str(plan)]

    def _sets(self, layout: Layout) -> list[str]:
        """Return the words for the resource sets.

        Bound ranks have a set each. Those that are not bound share one that is a whole node: the cores of a set are its
        own, so ranks that outnumber them would find none.
        """
        width = bound_cores(layout, self.cores)
        nodes = layout.nodes or 1
        on_each = layout.ranks_per_node or -(-layout.ranks // nodes)
        if width is not None:
            of_node = [] if layout.nodes is None and layout.ranks_per_node is None else [f"--rs_per_host={on_each}"]
            each = [f"--nrs={layout.ranks}", "--tasks_per_rs=1", f"--cpu_per_rs={width}", *of_node]
            return [*each, "--launch_distribution=packed", f"--bind=packed:{width}"]
        if on_each * nodes != layout.ranks:
            what = f"jsrun starts as many ranks on each node, and {layout.ranks} do not divide by {nodes} nodes"
            raise UserError(what, f"--launcher {NAME}", f"use {on_each * nodes} ranks, or fewer on each node")
        each = [f"--nrs={nodes}", f"--tasks_per_rs={on_each}", "--cpu_per_rs=ALL_CPUS", "--rs_per_host=1"]
        return [*each, "--launch_distribution=packed", "--bind=none"]

    def on_this_node(self) -> "Jsrun":
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
        """See ``Launcher``. Raise ``UserError``: jsrun counts hosts, and takes no names."""
        what = f"jsrun cannot start {command[0]} on a host by its name ({host})"
        raise UserError(what, f"--launcher {NAME}", by_own_mpiexec(self.own))

    def environment(self, layout: Layout) -> dict[str, str]:
        """See ``Launcher``: ranks yield only where they outnumber the cores."""
        return {"OMPI_MCA_mpi_yield_when_idle": "1" if ranks_outnumber(layout, self.cores) else "0"}

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``: the shell around each rank says which one has died."""
        return first_ended(stderr)

    def end_elsewhere(self) -> None:
        """See ``Launcher``: nothing is known to end a step whose jsrun was killed, so its ranks end with the job."""


def in_job(program: Path, family: Family, cores: int | None, own: str) -> Launcher:
    """See ``JobLauncherModule``."""
    if family != "openmpi":
        what = "jsrun starts ranks of Spectrum MPI and Open MPI, and the engine was built with another"
        raise UserError(what, f"--launcher {NAME}", by_own_mpiexec(own), EXIT_ENVIRONMENT)
    return Jsrun(program, cores, own=own)
