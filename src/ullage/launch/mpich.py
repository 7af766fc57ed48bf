# SPDX-License-Identifier: Apache-2.0
"""MPICH and its kin: mpiexec.hydra."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.launch.base import DeadRank, Family, Launcher, Remains, bound_cores, is_one_node
from ullage.launch.by_mpiexec import ByMpiexec
from ullage.launch.hosts import Hosts
from ullage.launch.wrapped import ended_ranks, wrapper
from ullage.model.plan import Layout
from ullage.system.allocation import allocation

NAME: Final = "mpich"
FAMILY: Final[Family] = "mpich"
LIBRARY: Final = None
MPIEXEC_NAMES: Final = ("mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun")
VERSION_MARK: Final = re.compile(r"HYDRA", re.IGNORECASE)

# Together these make a waiting rank yield, from version 5 on; older ones spin for a scheduler tick anyway. Messages are
# dearer then, so they are for ranks that share cores.
YIELDING: Final = {
    "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "10",
    "MPIR_CVAR_POSIX_POLL_FREQUENCY": "10",
}
_BAD_TERMINATION: Final = re.compile(r"PID \d+ RUNNING AT (?P<node>\S+)\s*\n=\s+EXIT CODE: (?P<code>\d+)")
# The socket by which Hydra sees the end of a rank is that of the shell around it, too.
WRAPPER: Final = wrapper("$PMI_RANK")
_EXIT_STRING: Final = re.compile(r"EXIT STRING: (?P<word>[^(\n]+?) \(signal (?P<signal>\d+)\)")


@dataclass(frozen=True, slots=True)
class Mpich(ByMpiexec):
    """Launches with the mpiexec of MPICH."""

    name: str = NAME

    @property
    def remains(self) -> Remains:
        """See ``Launcher``. Version 5 names its segments until MPI_Finalize, earlier ones until all ranks have them."""
        return Remains(segments=("mpich_*",))

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``."""
        layout = self.hosts.placed(layout)
        words = [str(self.mpiexec), *self._placed(self.hosts.of(layout)), "-n", str(layout.ranks)]
        if layout.ranks_per_node is not None:
            words += ["-ppn", str(layout.ranks_per_node)]
        width = bound_cores(layout, self.cores)
        bind = "none" if width is None else "core" if width == 1 else f"core:{width}"
        return [*words, "-bind-to", bind, *WRAPPER, str(engine), "run", str(plan)]

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        """See ``Launcher``."""
        return [str(self.mpiexec), *self._placed([host]), "-n", "1", "-bind-to", "none", *command]

    def _placed(self, names: Sequence[str]) -> list[str]:
        """Return the words that place ranks on these hosts, or none without hosts."""
        if not names:
            return []
        by_agent = ["-launcher", "rsh", "-launcher-exec", self.hosts.agent] if self.hosts.agent else []
        return [*by_agent, "-hosts", ",".join(names)]

    def environment(self, layout: Layout) -> dict[str, str]:
        """See ``Launcher``."""
        shares = bound_cores(self.hosts.placed(layout), self.cores) is None
        settings = dict(YIELDING) if shares else {}
        if is_one_node(self.hosts.placed(layout)):
            settings |= {"FI_TCP_IFACE": "lo", "UCX_NET_DEVICES": "lo"}
        return settings | daemons_by_srun()

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``. Hydra names the node; its process is any of those that it has killed itself, so no rank."""
        if told := ended_ranks(stderr)[:1]:
            return told
        word = _EXIT_STRING.search(stderr)
        cause = f"signal {word['signal']} ({word['word']})" if word else None
        return [DeadRank(None, m["node"], cause or f"exit code {m['code']}") for m in _BAD_TERMINATION.finditer(stderr)]


def daemons_by_srun() -> dict[str, str]:
    """Return the settings for a Hydra that starts its daemons by srun, as it does in a job of Slurm.

    Under a site's default of pmix their ranks find two PMIs and abort.
    """
    job = allocation()
    return {"SLURM_MPI_TYPE": "none"} if job is not None and job.scheduler == "slurm" else {}


def create(mpiexec: Path, cores: int | None, hosts: Hosts) -> Launcher:
    """See ``LauncherModule``."""
    return Mpich(mpiexec, cores, hosts=hosts)
