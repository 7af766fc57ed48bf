# SPDX-License-Identifier: Apache-2.0
"""Open MPI: mpirun, which is orterun up to version 4, and PRRTE's prterun from 5 on (tried with 5.0.10)."""

import os
import re
import resource
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from ullage.launch.base import DeadRank, Family, MpiLauncher, bound_cores, is_one_node
from ullage.launch.hosts import Hosts
from ullage.model.plan import Layout
from ullage.processes.supervisor import Ending

_NOTICED: Final = re.compile(
    r"process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+)"
    r" exited on (?P<cause>signal \d+(?: \([^)]*\))?)"
)
# Its daemon keeps what ranks tell each other in a file of 4 MiB; under a lower limit of a file's size, in memory.
_STORE_BYTES: Final = 8 << 20
# The daemon of a node that is gone takes its ranks with it.
_LOST_NODE: Final = re.compile(
    r"lost communication with a remote daemon\.(?:(?!Remote daemon).)*Remote daemon: \S+ on node (\S+)"
)


class _OfOpenMpi(MpiLauncher):
    """What all versions have in common. ``FIRST``: how the job and its rank that ended first are named."""

    __slots__ = ()
    FAMILY: ClassVar[Family] = "openmpi"
    MPIEXEC_NAMES: ClassVar[tuple[str, ...]] = ("mpirun.openmpi", "mpiexec.openmpi", "mpirun", "mpiexec")
    AGENT: ClassVar[tuple[str, ...]]
    FIRST: ClassVar[str]

    def placed(self, names: Sequence[str], slots: int) -> list[str]:
        """Return the words that place ranks on these hosts, or none without hosts."""
        if not names:
            return []
        by_agent = [*self.AGENT, self.hosts.agent] if self.hosts.agent else []
        return [*by_agent, "--host", ",".join(f"{name}:{slots}" for name in names)]

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``.

        Of several nodes one may have fewer cores than this: it is better crowded than the launch refused.
        """
        layout = self.hosts.placed(layout)
        width = bound_cores(layout, self.cores)
        bind = "none" if width is None else "core" if is_one_node(layout) else "core:overload-allowed"
        where = self.placed(self.hosts.of(layout), layout.ranks_per_node or 1)
        words = [str(self.program), *where, "-n", str(layout.ranks), *self._mapped(layout, width)]
        return [*words, "--bind-to", bind, str(engine), "run", str(plan)]

    @abstractmethod
    def _mapped(self, layout: Layout, width: int | None) -> list[str]: ...

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        return [str(self.program), *self.placed([host], 1), "-n", "1", "--bind-to", "none", *command]

    def environment(self, layout: Layout) -> dict[str, str]:
        # Where ranks share cores, one that waits must hand its own to those that still work. Where each is bound to one
        # of its own, asking the system for somebody to hand it to makes every short message a fifth dearer.
        layout = self.hosts.placed(layout)
        shares = bound_cores(layout, self.cores) is None
        settings = {"OMPI_MCA_mpi_yield_when_idle": "1" if shares else "0"}
        if os.geteuid() == 0:
            settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if is_one_node(layout):
            settings["OMPI_MCA_btl_tcp_if_include"] = "lo"
        return settings

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``: the words of ORTE and PRRTE, which name a job each in its own way."""
        text = " ".join(stderr.split())  # its messages are wrapped at blanks
        first = re.finditer(rf"Process name: \[{self.FIRST}(?P<rank>\d+)\] Exit code: +(?P<code>\d+)", text)
        left = [DeadRank(int(m["rank"]), "", f"exit code {m['code']}") for m in first]
        lost = [DeadRank(None, node, "its daemon is gone", with_node=True) for node in _LOST_NODE.findall(text)]
        return lost or [DeadRank(int(m["rank"]), m["node"], m["cause"]) for m in _NOTICED.finditer(text)] + left


@dataclass(frozen=True, slots=True)
class OpenMpi(_OfOpenMpi):
    """Launches with the mpiexec of Open MPI 4."""

    NAME: ClassVar[str] = "open-mpi"
    VERSION_MARK: ClassVar[re.Pattern[str]] = re.compile(r"Open MPI|OpenRTE|PRRTE|prte", re.IGNORECASE)
    AGENT: ClassVar[tuple[str, ...]] = ("--mca", "plm_rsh_agent")
    FIRST: ClassVar[str] = r"\[\d+,\d+\],"
    # The session folder, and what shared memory is made of.
    remains: ClassVar[Ending] = Ending(
        folders=("ompi.*.{uid}/pid.{pid}",), segments=("vader_segment.*", "sm_segment.*", "osc_rdma.*", "ompi_*")
    )

    def _mapped(self, layout: Layout, width: int | None) -> list[str]:
        share = [] if layout.ranks_per_node is None else ["ppr", str(layout.ranks_per_node), "node"]
        wide = [f"PE={width}"] if width is not None and width > 1 else []
        mapped = ["--map-by", ":".join([*(share or ["slot"]), *wide])] if share or wide else []
        return ["--oversubscribe", *mapped]

    def environment(self, layout: Layout) -> dict[str, str]:
        settings = _OfOpenMpi.environment(self, layout)
        if is_one_node(self.hosts.placed(layout)):
            settings["OMPI_MCA_oob_tcp_if_include"] = "lo"
        if 0 <= resource.getrlimit(resource.RLIMIT_FSIZE)[0] < _STORE_BYTES:  # below 0: no limit
            settings |= {"PMIX_MCA_gds": "hash"}
        return settings


@dataclass(frozen=True, slots=True)
class OpenMpi5(_OfOpenMpi):
    """Launches with the mpiexec of Open MPI 5. PRRTE refuses to run over the loopback alone: only ranks are told to."""

    NAME: ClassVar[str] = "open-mpi-5"
    LIBRARY: ClassVar[re.Pattern[str] | None] = re.compile(r"Open MPI v(?:[5-9]|\d\d)\b")
    VERSION_MARK: ClassVar[re.Pattern[str]] = re.compile(r"\(Open MPI\) (?:[5-9]|\d\d)\.")
    AGENT: ClassVar[tuple[str, ...]] = ("--prtemca", "plm_ssh_agent")
    # PRRTE names a job by the host and the process that started it: [prterun-n17-4711@1,2].
    FIRST: ClassVar[str] = r"[^\]\s]+@\d+,"
    # The session folder, by the names of PRRTE 3.0 and of its later versions, and segments.
    remains: ClassVar[Ending] = Ending(
        folders=("ompi.{pid}", "prterun.*.{pid}.{uid}"), segments=("sm_segment.*", "osc_rdma.*", "ompi_*")
    )

    def _mapped(self, layout: Layout, width: int | None) -> list[str]:
        """Return the words for ``--map-by``.

        ``ppr`` refuses a node with fewer cores than this one, even if they may be shared. Slots of named hosts place
        ranks alike, and let them share.
        """
        by_slot = layout.ranks_per_node is None or (width is not None and bool(self.hosts.names))
        where = "slot" if by_slot else f"ppr:{layout.ranks_per_node}:node"
        wide = [f"PE={width}"] if width is not None and width > 1 else []
        return ["--map-by", ":".join([where, *wide, "OVERSUBSCRIBE"])]


LAUNCHERS: Final = (OpenMpi, OpenMpi5)


def spread_over(hosts: Hosts, layout: Layout) -> tuple[str, ...]:
    """Return the words that place ranks of any program of Open MPI as ``layout`` places ours on ``hosts``."""
    there = hosts.placed(layout)
    on_each = there.ranks_per_node or 1
    return (*OpenMpi(Path(), hosts=hosts).placed(hosts.of(there), on_each), "--map-by", f"ppr:{on_each}:node")
