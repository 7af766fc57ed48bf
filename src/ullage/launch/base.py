# SPDX-License-Identifier: Apache-2.0
"""What a launcher is: the words that start the engine's ranks under one MPI, and where on the nodes those are."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from ullage.errors import UserError
from ullage.launch.hosts import Hosts, fewest_full
from ullage.model.plan import Layout
from ullage.quantity import plural
from ullage.system.allocation import Scheduler, nodes_of_job
from ullage.system.hardware import usable_cores

Family: TypeAlias = Literal["openmpi", "mpich", "other"]

# Each of these stands in the environment of a batch job whose allocation may span nodes.
_ALLOCATIONS = (
    "SLURM_JOB_ID",
    "PBS_JOBID",
    "LSB_JOBID",
    "FLUX_JOB_ID",
    "FLUX_ENCLOSING_ID",
    "FLUX_URI",
    "COBALT_JOBID",
    "JOB_ID",
)


@dataclass(frozen=True, slots=True)
class DeadRank:
    """A rank that ended badly, as far as the launcher said. ``cause``: ``signal 9 (Killed)`` or ``exit code 3``.

    ``with_node``: all of its node has failed, and all ranks there with it.
    """

    rank: int | None
    node: str
    cause: str
    with_node: bool = False


@dataclass(frozen=True, slots=True)
class Remains:
    """What a launcher and its ranks leave behind when they are killed, as patterns of ``processes.supervisor.Job``."""

    folders: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()


class Launcher(Protocol):
    """Stateless: all that differs between launches is in the layout."""

    @property
    def name(self) -> str:
        """The name that ``--launcher`` has for it."""
        ...

    @property
    def hosts(self) -> Hosts:
        """Where its ranks go, if any are named."""
        ...

    @property
    def remains(self) -> Remains:
        """What is to be removed when it has ended, however that was."""
        ...

    def on_this_node(self) -> "Launcher":
        """Return the same launcher without its hosts."""
        ...

    @property
    def nodes(self) -> int:
        """How many nodes it may start ranks on."""
        ...

    def without(self, nodes: Sequence[str]) -> "Launcher | None":
        """Return the same launcher that starts nothing on ``nodes``; None where it cannot be told so."""
        ...

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:
        """Return the argument list that runs ``command`` once on ``host``, as ranks are started.

        ``command`` is no program of MPI.
        """
        ...

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """Return the argument list that starts ``engine run plan`` on all ranks of ``layout``."""
        ...

    def environment(self, layout: Layout) -> dict[str, str]:
        """Return the settings this MPI needs; what the user has set takes precedence."""
        ...

    def end_elsewhere(self) -> None:
        """End what it has started on other nodes, once it was killed itself and where its end is not theirs."""
        ...

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        """Return the ranks that the launcher reports as ended by a signal or a bad exit code."""
        ...


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
    """Return the cores to bind each rank to, or None for no binding.

    A layout that asks for more cores than there are is not bound.
    ``cores``: physical cores of a node that this process may use, None when not known.
    """
    if layout.binding != "core":
        return None
    on_a_node = ranks_on_a_node(layout)
    if on_a_node is not None and cores is not None and choose_binding(on_a_node, layout.threads, cores) == "none":
        return None
    return layout.threads


def ranks_outnumber(layout: Layout, cores: int | None) -> bool:
    """Tell whether ranks share cores, so that one that waits has to leave its core; so too where that is not known.

    ``cores``: of a node, None when not known.
    """
    on_a_node = ranks_on_a_node(layout)
    if on_a_node is None or cores is None:
        return bound_cores(layout, cores) is None
    return on_a_node * layout.threads > cores


class LauncherModule(Protocol):
    """What the file of a launcher offers.

    ``LIBRARY``: what the libraries say of themselves that it is for; None: all of its family that no other is for.
    """

    NAME: str
    FAMILY: Family
    LIBRARY: re.Pattern[str] | None
    MPIEXEC_NAMES: tuple[str, ...]
    VERSION_MARK: re.Pattern[str]

    def create(self, mpiexec: Path, cores: int | None, hosts: Hosts) -> Launcher:
        """Make the launcher for one mpiexec; ``cores``: physical cores this process may use, None when not known.

        ``hosts``: where the ranks go, if any are named.
        """
        ...


class JobLauncherModule(Protocol):
    """What the file of a launcher offers that starts ranks of any MPI as part of a batch job.

    ``INSIDE``: the commands that make such a job.
    """

    NAME: str
    SCHEDULER: Scheduler
    PROGRAM: str
    INSIDE: str

    def in_job(self, program: Path, family: Family, cores: int | None, own: str) -> Launcher:
        """Make the launcher for ranks of an MPI of that family; raise ``UserError`` where they would not meet.

        ``cores``: of a node of the job, None when not known. ``own``: launcher of that MPI's own mpiexec, if any.
        """
        ...


def by_own_mpiexec(own: str) -> str:
    """Write what to do where a batch system cannot start the ranks; ``own``: see ``JobLauncherModule.in_job``."""
    if not own:
        return "build the engine with an MPI that this batch system starts"
    return f"start by the MPI's own mpiexec: --launcher {own}"


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
    """Return the binding that ``bind`` asks for, or what ``choose_binding`` says where nothing is asked for.

    Raise ``UserError`` where ranks are to be bound that have no core each: no launcher would bind them.
    """
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
    """Do as ``place_ranks`` with the cores of this node: nodes that measure together are taken to be alike.

    Where one has fewer, ranks share its cores, which the engine sees and says in every row.
    """
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
