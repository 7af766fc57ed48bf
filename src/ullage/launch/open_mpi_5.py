# SPDX-License-Identifier: Apache-2.0
"""Open MPI 5 and later: mpirun, which is PRRTE's prterun. Tried with 5.0.10 by its wheel."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.launch.base import DeadRank, Family, Launcher, Remains, bound_cores, is_one_node
from ullage.launch.by_mpiexec import ByMpiexec
from ullage.launch.hosts import Hosts
from ullage.launch.open_mpi import killed_ranks, lost_nodes
from ullage.model.plan import Layout

NAME: Final = "open-mpi-5"
FAMILY: Final[Family] = "openmpi"
LIBRARY: Final = re.compile(r"Open MPI v(?:[5-9]|\d\d)\b")
MPIEXEC_NAMES: Final = ("mpirun.openmpi", "mpiexec.openmpi", "mpirun", "mpiexec")
VERSION_MARK: Final = re.compile(r"\(Open MPI\) (?:[5-9]|\d\d)\.")

# PRRTE names a job by the host and the process that started it: [prterun-n17-4711@1,2].
_FIRST_TO_DO_SO: Final = re.compile(r"Process name: \[[^\]\s]+@\d+,(?P<rank>\d+)\] Exit code: +(?P<code>\d+)")


@dataclass(frozen=True, slots=True)
class OpenMpi5(ByMpiexec):
    """Launches with the mpiexec of Open MPI 5."""

    name: str = NAME

    @property
    def remains(self) -> Remains:
        """See ``Launcher``: the session folder, by the names of PRRTE 3.0 and of its later versions, and segments."""
        return Remains(("ompi.{pid}", "prterun.*.{pid}.{uid}"), ("sm_segment.*", "osc_rdma.*", "ompi_*"))

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``."""
        layout = self.hosts.placed(layout)
        width = bound_cores(layout, self.cores)
        words = [str(self.mpiexec), *_placed(self.hosts.of(layout), layout.ranks_per_node or 1, self.hosts.agent)]
        words += ["-n", str(layout.ranks), "--map-by", self._map(layout, width)]
        return [*words, "--bind-to", _bind(layout, width), str(engine), "run", str(plan)]

    def _map(self, layout: Layout, width: int | None) -> str:
        """Return the word for ``--map-by``.

        ``ppr`` refuses a node with fewer cores than this one, even if they may be shared. Slots of named hosts place
        ranks alike, and let them share.
        """
        by_slot = layout.ranks_per_node is None or (width is not None and bool(self.hosts.names))
        where = "slot" if by_slot else f"ppr:{layout.ranks_per_node}:node"
        wide = [f"PE={width}"] if width is not None and width > 1 else []
        return ":".join([where, *wide, "OVERSUBSCRIBE"])

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        """See ``Launcher``."""
        return [str(self.mpiexec), *_placed([host], 1, self.hosts.agent), "-n", "1", "--bind-to", "none", *command]

    def environment(self, layout: Layout) -> dict[str, str]:
        """See ``Launcher``. PRRTE itself refuses to run over the loopback alone, so only the ranks are told to."""
        shares = bound_cores(self.hosts.placed(layout), self.cores) is None
        settings = {"OMPI_MCA_mpi_yield_when_idle": "1" if shares else "0"}
        if os.geteuid() == 0:
            settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if is_one_node(self.hosts.placed(layout)):
            settings["OMPI_MCA_btl_tcp_if_include"] = "lo"
        return settings

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``."""
        text = " ".join(stderr.split())  # its messages are wrapped at blanks
        left = [DeadRank(int(m["rank"]), "", f"exit code {m['code']}") for m in _FIRST_TO_DO_SO.finditer(text)]
        return lost_nodes(text) or killed_ranks(text) + left


def _placed(names: Sequence[str], slots: int, agent: str) -> list[str]:
    """Return the words that place ranks on these hosts, or none without hosts. ``agent``: as of ``Hosts``."""
    if not names:
        return []
    by_agent = ["--prtemca", "plm_ssh_agent", agent] if agent else []
    return [*by_agent, "--host", ",".join(f"{name}:{slots}" for name in names)]


def _bind(layout: Layout, width: int | None) -> str:
    """Return the word for ``--bind-to``. Of several nodes one may have fewer cores than this; ranks then share them."""
    return "none" if width is None else "core" if is_one_node(layout) else "core:overload-allowed"


def create(mpiexec: Path, cores: int | None, hosts: Hosts) -> Launcher:
    """See ``LauncherModule``."""
    return OpenMpi5(mpiexec, cores, hosts=hosts)
