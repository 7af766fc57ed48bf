# SPDX-License-Identifier: Apache-2.0
"""Intel MPI: its own Hydra. Tried with 2021.19 by its wheel; older ones by their documentation."""

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.launch.base import DeadRank, Family, Launcher, Remains, bound_cores, is_one_node
from ullage.launch.by_mpiexec import ByMpiexec
from ullage.launch.hosts import Hosts
from ullage.launch.mpich import daemons_by_srun
from ullage.model.plan import Layout
from ullage.system.hardware import threads_per_core

NAME: Final = "intel-mpi"
FAMILY: Final[Family] = "mpich"
LIBRARY: Final = re.compile(r"Intel\(R\) MPI Library")
MPIEXEC_NAMES: Final = ("mpiexec.hydra", "mpiexec", "mpirun")
VERSION_MARK: Final = LIBRARY

# MPICH's own Hydra names no rank here.
_BAD_TERMINATION: Final = re.compile(
    r"RANK (?P<rank>\d+) PID \d+ RUNNING AT (?P<node>\S+)\s*\n=\s+"
    r"(?:KILLED BY SIGNAL: (?P<signal>\d+)[^\n]*|EXIT STATUS: (?P<code>\d+))"
)

# The daemon of a node that is gone takes its ranks with it. ssh to such a node ends with a status.
_LOST_NODE: Final = re.compile(r"downstream from host (\S+) (?:was killed by signal|exited with status) \d+")
_NOT_PINNED: Final = ["-genv", "I_MPI_PIN", "off"]
_CONSEQUENCES: Final = tuple(f"signal {int(one)} " for one in (signal.SIGKILL, signal.SIGTERM))


@dataclass(frozen=True, slots=True)
class IntelMpi(ByMpiexec):
    """Launches with the mpiexec of Intel MPI. ``smt``: hardware threads of a core."""

    name: str = NAME
    smt: int = 1

    @property
    def remains(self) -> Remains:
        """See ``Launcher``: its segments have no name once all ranks have them."""
        return Remains(segments=("Intel_MPI_*",))

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``."""
        layout = self.hosts.placed(layout)
        words = [str(self.mpiexec), *self._placed(self.hosts.of(layout)), *self._pinned(layout)]
        words += ["-n", str(layout.ranks)]
        if layout.ranks_per_node is not None:
            words += ["-ppn", str(layout.ranks_per_node)]
        return [*words, str(engine), "run", str(plan)]

    def _pinned(self, layout: Layout) -> list[str]:
        """Return the words that bind. ``-bind-to`` has no effect: with ``none``, ranks are still bound.

        A domain is of hardware threads, unless it is of one core.
        """
        width = bound_cores(layout, self.cores)
        if width is None:
            return _NOT_PINNED
        domain = "core" if width == 1 else f"{width * self.smt}:compact"
        return ["-genv", "I_MPI_PIN", "on", "-genv", "I_MPI_PIN_DOMAIN", domain]

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        """See ``Launcher``."""
        return [str(self.mpiexec), *self._placed([host]), *_NOT_PINNED, "-n", "1", *command]

    def _placed(self, names: Sequence[str]) -> list[str]:
        """Return the words that place ranks on these hosts, or none without hosts."""
        if not names:
            return []
        by_agent = ["-launcher", "rsh", "-launcher-exec", self.hosts.agent] if self.hosts.agent else []
        return [*by_agent, "-hosts", ",".join(names)]

    def environment(self, layout: Layout) -> dict[str, str]:
        """See ``Launcher``. Ranks that share cores yield without being told to."""
        settings = {"I_MPI_FABRICS": "shm"} if is_one_node(self.hosts.placed(layout)) else {}
        # Else -ppn has no effect in a batch job.
        settings["I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"] = "off"
        return settings | daemons_by_srun()

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``. Ranks that Hydra has killed because another died may be named too; they come last."""
        lost = [DeadRank(None, node, "its daemon is gone", with_node=True) for node in _LOST_NODE.findall(stderr)]
        found = [DeadRank(int(m["rank"]), m["node"], _cause(m)) for m in _BAD_TERMINATION.finditer(stderr)]
        return lost or sorted(found, key=lambda dead: dead.cause.startswith(_CONSEQUENCES))[:1]


def _cause(told: re.Match[str]) -> str:
    if told["signal"] is None:
        return f"exit code {told['code']}"
    number = int(told["signal"])
    return f"signal {number} ({signal.strsignal(number)})"


def create(mpiexec: Path, cores: int | None, hosts: Hosts) -> Launcher:
    """See ``LauncherModule``."""
    return IntelMpi(mpiexec, cores, hosts=hosts, smt=threads_per_core())
