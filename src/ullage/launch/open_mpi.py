# SPDX-License-Identifier: Apache-2.0
"""Open MPI 4: mpirun (orterun)."""

import os
import re
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.launch.base import DeadRank, Family, Launcher, Remains, bound_cores, is_one_node
from ullage.launch.by_mpiexec import ByMpiexec
from ullage.launch.hosts import Hosts
from ullage.model.plan import Layout

NAME: Final = "open-mpi"
FAMILY: Final[Family] = "openmpi"
LIBRARY: Final = None
MPIEXEC_NAMES: Final = ("mpirun.openmpi", "mpiexec.openmpi", "mpirun", "mpiexec")
VERSION_MARK: Final = re.compile(r"Open MPI|OpenRTE|PRRTE|prte", re.IGNORECASE)

_NOTICED: Final = re.compile(
    r"process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+)"
    r" exited on (?P<cause>signal \d+(?: \([^)]*\))?)"
)
# Its daemon keeps what ranks tell each other in a file of 4 MiB; under a lower limit of a file's size, in memory.
_STORE_BYTES: Final = 8 << 20
_FIRST_TO_DO_SO: Final = re.compile(r"Process name: \[\[\d+,\d+\],(?P<rank>\d+)\] Exit code: +(?P<code>\d+)")


# The daemon of a node that is gone takes its ranks with it.
_LOST_NODE: Final = re.compile(
    r"lost communication with a remote daemon\.(?:(?!Remote daemon).)*Remote daemon: \S+ on node (\S+)"
)


@dataclass(frozen=True, slots=True)
class OpenMpi(ByMpiexec):
    """Launches with the mpiexec of Open MPI 4."""

    name: str = NAME

    @property
    def remains(self) -> Remains:
        """See ``Launcher``: the session folder, and what shared memory is made of."""
        return Remains(("ompi.*.{uid}/pid.{pid}",), ("vader_segment.*", "sm_segment.*", "osc_rdma.*", "ompi_*"))

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
        if 0 <= resource.getrlimit(resource.RLIMIT_FSIZE)[0] < _STORE_BYTES:  # below 0: no limit
            settings |= {"PMIX_MCA_gds": "hash"}
        return settings

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``."""
        text = " ".join(stderr.split())  # its messages are wrapped at blanks
        left = [DeadRank(int(m["rank"]), "", f"exit code {m['code']}") for m in _FIRST_TO_DO_SO.finditer(text)]
        return lost_nodes(text) or killed_ranks(text) + left


def lost_nodes(text: str) -> list[DeadRank]:
    """Return the nodes whose daemon is gone, by the words of ORTE and PRRTE. ``text``: without line ends."""
    return [DeadRank(None, node, "its daemon is gone", with_node=True) for node in _LOST_NODE.findall(text)]


def killed_ranks(text: str) -> list[DeadRank]:
    """Return the ranks that a signal has ended, by the words of ORTE and PRRTE. ``text``: without line ends."""
    return [DeadRank(int(m["rank"]), m["node"], m["cause"]) for m in _NOTICED.finditer(text)]


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
