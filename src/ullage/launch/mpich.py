# SPDX-License-Identifier: Apache-2.0
"""MPICH and its kin: mpiexec.hydra, and Intel MPI, which has its own Hydra.

Intel MPI was tried with 2021.19 by its wheel; older ones are by their documentation.
"""

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

from ullage.launch import base
from ullage.model.plan import Layout
from ullage.processes.supervisor import Ending
from ullage.system.allocation import allocation
from ullage.system.hardware import threads_per_core

# The socket by which Hydra sees the end of a rank is that of the shell around it, too.
WRAPPER: Final = base.wrapper("$PMI_RANK")
_BAD_TERMINATION: Final = re.compile(r"PID \d+ RUNNING AT (?P<node>\S+)\s*\n=\s+EXIT CODE: (?P<code>\d+)")
_EXIT_STRING: Final = re.compile(r"EXIT STRING: (?P<word>[^(\n]+?) \(signal (?P<signal>\d+)\)")


class _Hydra(base.MpiLauncher):
    __slots__ = ()
    FAMILY: ClassVar[base.Family] = "mpich"

    def _placed(self, names: Sequence[str]) -> list[str]:
        if not names:
            return []
        by_agent = ["-launcher", "rsh", "-launcher-exec", self.hosts.agent] if self.hosts.agent else []
        return [*by_agent, "-hosts", ",".join(names)]


def _on_each(layout: Layout) -> list[str]:
    return [] if layout.ranks_per_node is None else ["-ppn", str(layout.ranks_per_node)]


def _daemons_by_srun() -> dict[str, str]:
    """Return settings for daemons by srun: under a site's default of pmix their ranks find two PMIs and abort."""
    job = allocation()
    return {"SLURM_MPI_TYPE": "none"} if job is not None and job.scheduler == "slurm" else {}


@dataclass(frozen=True, slots=True)
class Mpich(_Hydra):
    """Launches with the mpiexec of MPICH."""

    NAME: ClassVar[str] = "mpich"
    MPIEXEC_NAMES: ClassVar[tuple[str, ...]] = ("mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun")
    VERSION_MARK: ClassVar[re.Pattern[str]] = re.compile(r"HYDRA", re.IGNORECASE)
    # Version 5 names its segments until MPI_Finalize, earlier ones until all ranks have them.
    remains: ClassVar[Ending] = Ending(segments=("mpich_*",))

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        layout = self.hosts.placed(layout)
        width = base.bound_cores(layout, self.cores)
        bind = "none" if width is None else "core" if width == 1 else f"core:{width}"
        words = [str(self.program), *self._placed(self.hosts.of(layout)), "-n", str(layout.ranks), *_on_each(layout)]
        return [*words, "-bind-to", bind, *WRAPPER, str(engine), "run", str(plan)]

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        return [str(self.program), *self._placed([host]), "-n", "1", "-bind-to", "none", *command]

    def environment(self, layout: Layout) -> dict[str, str]:
        layout = self.hosts.placed(layout)
        settings = dict(base.MPICH_YIELDING) if base.bound_cores(layout, self.cores) is None else {}
        if base.is_one_node(layout):
            settings |= {"FI_TCP_IFACE": "lo", "UCX_NET_DEVICES": "lo"}
        return settings | _daemons_by_srun()

    def dead_ranks(self, stderr: str) -> list[base.DeadRank]:
        """See ``Launcher``. Hydra names the node; its process is any of those that it has killed itself, so no rank."""
        if told := base.ended_ranks(stderr)[:1]:
            return told
        word = _EXIT_STRING.search(stderr)
        cause = f"signal {word['signal']} ({word['word']})" if word else None
        return [
            base.DeadRank(None, m["node"], cause or f"exit code {m['code']}") for m in _BAD_TERMINATION.finditer(stderr)
        ]


_OF_INTEL: Final = re.compile(r"Intel\(R\) MPI Library")
# MPICH's own Hydra names no rank here.
_BAD_RANK: Final = re.compile(
    r"RANK (?P<rank>\d+) PID \d+ RUNNING AT (?P<node>\S+)\s*\n=\s+"
    r"(?:KILLED BY SIGNAL: (?P<signal>\d+)[^\n]*|EXIT STATUS: (?P<code>\d+))"
)
# The daemon of a node that is gone takes its ranks with it. ssh to such a node ends with a status.
_LOST_NODE: Final = re.compile(r"downstream from host (\S+) (?:was killed by signal|exited with status) \d+")
_NOT_PINNED: Final = ["-genv", "I_MPI_PIN", "off"]
_CONSEQUENCES: Final = tuple(f"signal {int(one)} " for one in (signal.SIGKILL, signal.SIGTERM))


@dataclass(frozen=True, slots=True)
class IntelMpi(_Hydra):
    """Launches with the mpiexec of Intel MPI. ``smt``: hardware threads of a core."""

    NAME: ClassVar[str] = "intel-mpi"
    LIBRARY: ClassVar[re.Pattern[str] | None] = _OF_INTEL
    MPIEXEC_NAMES: ClassVar[tuple[str, ...]] = ("mpiexec.hydra", "mpiexec", "mpirun")
    VERSION_MARK: ClassVar[re.Pattern[str]] = _OF_INTEL
    # Its segments have no name once all ranks have them.
    remains: ClassVar[Ending] = Ending(segments=("Intel_MPI_*",))

    smt: int = field(default_factory=threads_per_core)

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        layout = self.hosts.placed(layout)
        words = [str(self.program), *self._placed(self.hosts.of(layout)), *self._pinned(layout)]
        return [*words, "-n", str(layout.ranks), *_on_each(layout), str(engine), "run", str(plan)]

    def _pinned(self, layout: Layout) -> list[str]:
        """Return the words that bind. ``-bind-to`` has no effect: with ``none``, ranks are still bound.

        A domain is of hardware threads, unless it is of one core.
        """
        width = base.bound_cores(layout, self.cores)
        if width is None:
            return _NOT_PINNED
        domain = "core" if width == 1 else f"{width * self.smt}:compact"
        return ["-genv", "I_MPI_PIN", "on", "-genv", "I_MPI_PIN_DOMAIN", domain]

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        return [str(self.program), *self._placed([host]), *_NOT_PINNED, "-n", "1", *command]

    def environment(self, layout: Layout) -> dict[str, str]:
        """See ``Launcher``. Ranks that share cores yield without being told to."""
        settings = {"I_MPI_FABRICS": "shm"} if base.is_one_node(self.hosts.placed(layout)) else {}
        # Else -ppn has no effect in a batch job.
        settings["I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"] = "off"
        return settings | _daemons_by_srun()

    def dead_ranks(self, stderr: str) -> list[base.DeadRank]:
        """See ``Launcher``. Ranks that Hydra has killed because another died may be named too; they come last."""
        lost = [base.DeadRank(None, node, "its daemon is gone", with_node=True) for node in _LOST_NODE.findall(stderr)]
        causes = (
            (m, f"exit code {m['code']}" if m["code"] else base.by_signal(int(m["signal"])))
            for m in _BAD_RANK.finditer(stderr)
        )
        found = [base.DeadRank(int(m["rank"]), m["node"], cause) for m, cause in causes]
        return lost or sorted(found, key=lambda dead: dead.cause.startswith(_CONSEQUENCES))[:1]


LAUNCHERS: Final = (IntelMpi, Mpich)
