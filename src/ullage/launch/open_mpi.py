# SPDX-License-Identifier: Apache-2.0
"""Open MPI 4 and 5: mpirun (orterun, prterun)."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ullage.launch.base import DeadRank, Family, Launcher, Remains, bound_cores, is_one_node
from ullage.launch.hosts import NO_HOSTS, Hosts
from ullage.model.plan import Layout
from ullage.system.allocation import nodes_of_job

NAME: Final = "open-mpi"
FAMILY: Final[Family] = "openmpi"
MPIEXEC_NAMES: Final = ("mpirun.openmpi", "mpiexec.openmpi", "mpirun", "mpiexec")
VERSION_MARK: Final = re.compile(r"Open MPI|OpenRTE|PRRTE|prte", re.IGNORECASE)

_NOTICED: Final = re.compile(
    r"process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+)"
    r" exited on (?P<cause>signal \d+(?: \([^)]*\))?)"
)
_FIRST_TO_DO_SO: Final = re.compile(r"Process name: \[\[\d+,\d+\],(?P<rank>\d+)\] Exit code: +(?P<code>\d+)")


# The daemon of a node that is gone takes its ranks with it.
_LOST_NODE: Final = re.compile(
    r"lost communication with a remote daemon\.(?:(?!Remote daemon).)*Remote daemon: \S+ on node (\S+)"
)


@dataclass(frozen=True, slots=True)
class OpenMpi:
    """Launches with the mpiexec of Open MPI.

    ``cores``: physical cores this process may use, None when not known. ``hosts``: where ranks go, if named.
    """

    mpiexec: Path
    cores: int | None = None
    name: str = NAME
    hosts: Hosts = NO_HOSTS

    @property
    def remains(self) -> Remains:
        """See ``Launcher``: the session folder of version 4, that of version 5, and what shared memory is made of."""
        folders = ("ompi.*.{uid}/pid.{pid}", "prterun.*.{pid}.{uid}")
        return Remains(folders, ("vader_segment.*", "sm_segment.*", "osc_rdma.*", "ompi_*"))

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``."""
        layout = self.hosts.placed(layout)
        words = [str(self.mpiexec), *self._remote_words(layout), "-n", str(layout.ranks), "--oversubscribe"]
        width = bound_cores(layout, self.cores)
        share = [] if layout.ranks_per_node is None else ["ppr", str(layout.ranks_per_node), "node"]
        wide = [f"PE={width}"] if width is not None and width > 1 else []
        if share or wide:
            words += ["--map-by", ":".join([*(share or ["slot"]), *wide])]
        return [*words, "--bind-to", self._bind(layout, width), str(engine), "run", str(plan)]

    def _bind(self, layout: Layout, width: int | None) -> str:
        """Return the word for ``--bind-to``.

        Of several nodes one may have fewer cores than this: it is better crowded than the launch refused.
        """
        return "none" if width is None else "core" if is_one_node(layout) else "core:overload-allowed"

    def on_this_node(self) -> "OpenMpi":
        """See ``Launcher``."""
        return replace(self, hosts=NO_HOSTS)

    @property
    def nodes(self) -> int:
        """See ``Launcher``."""
        return len(self.hosts.names) or nodes_of_job()

    def without(self, nodes: Sequence[str]) -> "OpenMpi | None":
        """See ``Launcher``: it takes the nodes that are named, or all of a job."""
        left = self.hosts.without(nodes)
        return replace(self, hosts=left) if left.names else None

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        """See ``Launcher``."""
        return [str(self.mpiexec), *placed([host], 1, self.hosts.agent), "-n", "1", "--bind-to", "none", *command]

    def _remote_words(self, layout: Layout) -> list[str]:
        return placed(self.hosts.of(layout), layout.ranks_per_node or 1, self.hosts.agent)

    def environment(self, layout: Layout) -> dict[str, str]:
        """See ``Launcher``."""
        # Where ranks share cores, one that waits must hand its own to those that still work. Where each is bound to one
        # of its own, asking the system for somebody to hand it to makes every short message a fifth dearer.
        shares = bound_cores(self.hosts.placed(layout), self.cores) is None
        settings = {"OMPI_MCA_mpi_yield_when_idle": "1" if shares else "0"}
        if os.geteuid() == 0:
            settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if is_one_node(self.hosts.placed(layout)):
            settings |= {"OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo"}
        return settings

    def end_elsewhere(self) -> None:
        """See ``Launcher``: its daemons end the ranks of other nodes when it is gone."""

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``."""
        text = " ".join(stderr.split())  # its messages are wrapped at blanks
        lost = [DeadRank(None, node, "its daemon is gone", with_node=True) for node in _LOST_NODE.findall(text)]
        killed = [DeadRank(int(m["rank"]), m["node"], m["cause"]) for m in _NOTICED.finditer(text)]
        left = [DeadRank(int(m["rank"]), "", f"exit code {m['code']}") for m in _FIRST_TO_DO_SO.finditer(text)]
        return lost or killed + left


def placed(names: Sequence[str], slots: int, agent: str) -> list[str]:
    """Return the words that place ranks on these hosts, or none without hosts. ``agent``: as of ``Hosts``."""
    if not names:
        return []
    by_agent = ["--mca", "plm_rsh_agent", agent] if agent else []
    return [*by_agent, "--host", ",".join(f"{name}:{slots}" for name in names)]


def spread_over(hosts: Hosts, layout: Layout) -> tuple[str, ...]:
    """Return the words that place ranks of any program of Open MPI as ``layout`` places ours on ``hosts``."""
    there = hosts.placed(layout)
    on_each = there.ranks_per_node or 1
    return (*placed(hosts.of(there), on_each, hosts.agent), "--map-by", f"ppr:{on_each}:node")


def create(mpiexec: Path, cores: int | None, hosts: Hosts) -> Launcher:
    """See ``LauncherModule``."""
    return OpenMpi(mpiexec, cores, hosts=hosts)
