# SPDX-License-Identifier: Apache-2.0
"""What a launcher is: the words that start the engine's ranks under one MPI, and where on the nodes those are."""

import os
import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, Literal, Self, TypeAlias

from ullage.errors import UserError
from ullage.launch.hosts import NO_HOSTS, Hosts, fewest_full
from ullage.model.plan import Layout
from ullage.processes.supervisor import Ending
from ullage.quantity import plural
from ullage.system.allocation import JOBS, Scheduler, nodes_of_job
from ullage.system.hardware import usable_cores

Family: TypeAlias = Literal["openmpi", "mpich", "single", "other"]

# Each of these stands in the environment of a batch job whose allocation may span nodes.
_ALLOCATIONS: Final = (*JOBS, "FLUX_URI", "COBALT_JOBID", "JOB_ID")


@dataclass(frozen=True, slots=True)
class DeadRank:
    """A rank that ended badly. ``cause``: ``signal 9 (Killed)``, ``exit code 3``. ``with_node``: its node failed."""

    rank: int | None
    node: str
    cause: str
    with_node: bool = False


@dataclass(frozen=True, slots=True)
class Launcher(ABC):
    """Starts ranks. Stateless: all that differs between launches is in the layout.

    ``NAME``: that ``--launcher`` has for it. ``remains``: what is to be removed when it has ended, however that was.
    ``program``: an mpiexec, or the command of a batch system. ``cores``: physical cores of a node that ranks may have,
    None when not known. ``hosts``: where ranks go, if any are named; they are numbered in that order.
    """

    NAME: ClassVar[str]
    remains: ClassVar[Ending] = Ending()

    program: Path
    cores: int | None = None
    hosts: Hosts = NO_HOSTS

    @property
    def name(self) -> str:
        """The name that ``--launcher`` has for it."""
        return self.NAME

    def on_this_node(self) -> Self:
        """Return the same launcher without its hosts. Inside a batch job the nodes of the job are all that there is."""
        return replace(self, hosts=NO_HOSTS)

    @property
    def nodes(self) -> int:
        """How many nodes it may start ranks on."""
        return len(self.hosts.names) or nodes_of_job()

    def without(self, nodes: Sequence[str]) -> Self | None:
        """Return the same launcher that starts nothing on ``nodes``; None where it takes all nodes of a job."""
        left = self.hosts.without(nodes)
        return replace(self, hosts=left) if left.names else None

    @abstractmethod
    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        """Return the argument list that runs ``command``, no program of MPI, once on ``host``, as ranks are started."""

    @abstractmethod
    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """Return the argument list that starts ``engine run plan`` on all ranks of ``layout``."""

    @abstractmethod
    def environment(self, layout: Layout) -> dict[str, str]:
        """Return the settings this MPI needs; what the user has set takes precedence."""

    @abstractmethod
    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """Return the ranks that the launcher reports as ended by a signal or a bad exit code."""

    def end_elsewhere(self) -> None:  # noqa: B027 - most need not
        """End what it has started on other nodes, once it was killed itself. Daemons of an mpiexec do so themselves."""


class MpiLauncher(Launcher):
    """The mpiexec of an MPI. ``LIBRARY``: what its libraries say of themselves; None: all others of its family."""

    __slots__ = ()
    FAMILY: ClassVar[Family]
    LIBRARY: ClassVar[re.Pattern[str] | None] = None
    MPIEXEC_NAMES: ClassVar[tuple[str, ...]] = ()  # none: it needs no program
    VERSION_MARK: ClassVar[re.Pattern[str]] = re.compile("")


# Together these make a waiting rank of MPICH yield, from version 5 on; older ones spin for a scheduler tick anyway.
# Messages are dearer then, so they are for ranks that share cores.
MPICH_YIELDING: Final = {
    "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "10",
    "MPIR_CVAR_POSIX_POLL_FREQUENCY": "10",
}


@dataclass(frozen=True, slots=True)
class JobLauncher(Launcher):
    """Starts ranks of an MPI of ``family`` as part of the batch job that we are in, which removes what they leave.

    ``INSIDE``: the commands that make such a job. ``own``: the launcher of that MPI's own mpiexec, if any.
    """

    SCHEDULER: ClassVar[Scheduler]
    PROGRAM: ClassVar[str]
    INSIDE: ClassVar[str]

    family: Family = "other"
    own: str = ""

    @classmethod
    def in_job(cls, program: Path, family: Family, cores: int | None, own: str) -> Self:
        """Make the launcher; raise ``UserError`` where ranks of that MPI would not meet."""
        return cls(program, cores, family=family, own=own)

    def environment(self, layout: Layout) -> dict[str, str]:
        """Let ranks yield only where they outnumber the cores."""
        shares = ranks_outnumber(layout, self.cores)
        if self.family == "openmpi":
            return {"OMPI_MCA_mpi_yield_when_idle": "1" if shares else "0"}
        return dict(MPICH_YIELDING) if shares and self.family == "mpich" else {}

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """See ``Launcher``: the shell around each rank says how that has ended."""
        return first_ended(stderr)

    def check_even(self, layout: Layout) -> tuple[int, int]:
        """Return the nodes and the ranks on each; raise ``UserError`` where these are not as many on every node."""
        nodes = layout.nodes or 1
        on_each = layout.ranks_per_node or -(-layout.ranks // nodes)
        if on_each * nodes != layout.ranks:
            program = self.NAME.replace("-", " ")
            what = f"{program} starts as many ranks on each node, and {layout.ranks} do not divide by {nodes} nodes"
            raise UserError(what, f"--launcher {self.NAME}", f"use {on_each * nodes} ranks, or fewer on each node")
        return nodes, on_each


def own_name() -> str:
    """Return the name of the steps and jobs of a batch system that this process starts."""
    return f"ullage-{os.getpid()}"


def by_own_mpiexec(own: str) -> str:
    """Write what to do where a batch system cannot start the ranks; ``own``: as of ``JobLauncher``."""
    if not own:
        return "build the engine with an MPI that this batch system starts"
    return f"start by the MPI's own mpiexec: --launcher {own}"


_ENDED: Final = re.compile(
    r"^.*?ullage: rank (?P<rank>\d+) on (?P<node>\S+) ended by signal (?P<signal>\d+)$", re.MULTILINE
)


def wrapper(rank: str) -> tuple[str, ...]:
    """Return the words before a rank's own. ``rank``: its number, as a word of the shell: ``$PMI_RANK``.

    The parent of a rank knows how it has ended before its launcher does. It then ends by the same signal itself,
    without a second core dump.
    """
    script = (
        '"$@"; code=$?; [ $code -gt 128 ] || exit $code; ulimit -c 0; '
        f'echo "ullage: rank {rank} on $(uname -n) ended by signal $((code - 128))" >&2; kill -$((code - 128)) $$'
    )
    return ("/bin/sh", "-c", script, "rank")


def by_signal(number: int) -> str:
    """Return the cause of an end by a signal: ``signal 9 (Killed)``."""
    return f"signal {int(number)} ({signal.strsignal(number)})"


def ended_ranks(stderr: str) -> list[DeadRank]:
    """Return the ranks that their shells report, in the order of the reports."""
    return [DeadRank(int(m["rank"]), m["node"], by_signal(int(m["signal"]))) for m in _ENDED.finditer(stderr)]


def first_ended(stderr: str) -> list[DeadRank]:
    """Return the rank that ended first by a signal which launchers do not send to those that are left."""
    found = ended_ranks(stderr)
    own = [one for one in found if not one.cause.startswith((f"signal {signal.SIGTERM} ", f"signal {signal.SIGHUP} "))]
    return (own or found)[:1]


def is_one_node(layout: Layout, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether all ranks will be on this node: the layout says so, or there is no allocation to spread over."""
    if layout.nodes is not None:
        return layout.nodes == 1
    return not any(name in environment for name in _ALLOCATIONS)


Binding: TypeAlias = Literal["core", "none"]


def choose_binding(ranks_on_a_node: int, threads: int, cores: int) -> Binding:
    """Bind to cores only when every thread of every rank gets one of its own: else some share one while others idle."""
    return "core" if ranks_on_a_node * threads <= cores else "none"


def bound_cores(layout: Layout, cores: int | None) -> int | None:
    """Return the cores to bind each rank to; None for no binding, as where that needs more than a node's ``cores``."""
    if layout.binding != "core":
        return None
    on_a_node = ranks_on_a_node(layout)
    if on_a_node is not None and cores is not None and choose_binding(on_a_node, layout.threads, cores) == "none":
        return None
    return layout.threads


def ranks_outnumber(layout: Layout, cores: int | None) -> bool:
    """Tell whether ranks share the ``cores`` of a node, so that those that wait must yield; yes if not known."""
    on_a_node = ranks_on_a_node(layout)
    if on_a_node is None or cores is None:
        return bound_cores(layout, cores) is None
    return on_a_node * layout.threads > cores


def place_ranks(
    ranks: int,
    nodes: int | None,
    ranks_per_node: int | None,
    cores: int | None,
    hosts: int = 0,
    bind: Binding | None = None,
) -> Layout:
    """Place ``ranks``; raise ``UserError`` when they do not fill the nodes, or are too many for them.

    ``cores``: usable ones of a node, None when not known. ``hosts``: how many are named, which are the nodes then.
    ``bind``: see ``binding_of``.
    """
    on_a_node = ranks_per_node
    if hosts and nodes is None and on_a_node is not None and ranks > hosts * on_a_node:
        what = f"{ranks} ranks do not fit on {hosts} hosts with {on_a_node} each"
        raise UserError(what, "--ranks-per-node", "raise it, or name more --hosts")
    if hosts and nodes is None:
        nodes = fewest_full(ranks, min(hosts, ranks))
    if hosts and nodes is not None and nodes > hosts:
        raise UserError(f"{nodes} nodes, and {hosts} hosts", "--hosts", "name one for each node")
    if nodes is not None and ranks < nodes:
        raise UserError(f"{ranks} ranks cannot use {nodes} nodes", "--nodes", "give at least one rank for each node")
    if nodes is not None and on_a_node is not None and ranks > nodes * on_a_node:
        what = f"{ranks} ranks do not fit on {nodes} nodes with {on_a_node} each"
        raise UserError(what, "--ranks-per-node", "raise it, or --nodes")
    if nodes is not None and on_a_node is not None:
        on_a_node = min(on_a_node, -(-ranks // nodes))
    elif nodes is not None:
        on_a_node = -(-ranks // nodes)
    elif on_a_node is not None:
        on_a_node = min(on_a_node, ranks)
        nodes = -(-ranks // on_a_node)
    crowd = on_a_node or -(-ranks // nodes_of_job())
    return Layout(ranks=ranks, nodes=nodes, ranks_per_node=on_a_node, binding=binding_of(crowd, cores, bind))


def binding_of(ranks_on_a_node: int, cores: int | None, bind: Binding | None) -> Binding:
    """Return ``bind``, else what ``choose_binding`` says; raise ``UserError`` where bound ranks would lack cores."""
    chosen: Binding = "none" if cores is None else choose_binding(ranks_on_a_node, 1, cores)
    if bind == "core" and cores is not None and chosen == "none":
        what = f"{plural(ranks_on_a_node, 'rank')} on a node with {plural(cores, 'usable core')} cannot be bound"
        raise UserError(what, "--bind core", "start at most one rank for each core, or give --bind none")
    return bind or chosen


def with_helpers(layout: Layout, wanted: int, cores: int | None, bind: Binding | None) -> Layout:
    """Return ``layout`` with ``wanted`` threads a rank at most, which share the cores that are its own.

    A rank that has a single core is not bound unless ``bind`` asks for it, since its helper threads would only work
    when it does not compute.
    """
    on_a_node = ranks_on_a_node(layout)
    own = 1 if cores is None or on_a_node is None else cores // on_a_node
    has_several = own > 1 and bind != "none"
    if bind == "core" and not has_several:
        return layout.model_copy(update={"threads": 1, "binding": "core"})
    threads = min(wanted, own) if has_several else wanted
    return layout.model_copy(update={"threads": threads, "binding": "core" if has_several else "none"})


def layout_here(ranks: int, nodes: int | None, ranks_per_node: int | None, hosts: int = 0) -> Layout:
    """Do as ``place_ranks`` with the cores of this node: nodes that measure together are taken to be alike."""
    return place_ranks(ranks, nodes, ranks_per_node, usable_cores(), hosts)


def ranks_on_a_node(layout: Layout) -> int | None:
    """Return the most ranks on a node, or None where only a batch system knows."""
    if layout.ranks_per_node is not None:
        return layout.ranks_per_node
    if layout.nodes is not None:
        return -(-layout.ranks // layout.nodes)
    return layout.ranks if is_one_node(layout) else None


def fewest_nodes(layouts: Iterable[Layout]) -> int | None:
    """Return the nodes of the layout on the fewest, or None where a layout does not say."""
    found = [layout.nodes or (1 if is_one_node(layout) else 0) for layout in layouts]
    return min(found, default=0) or None
