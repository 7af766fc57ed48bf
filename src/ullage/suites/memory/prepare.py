# SPDX-License-Identifier: Apache-2.0
"""From the options to cases: what this machine has and allows is found here, once, and stays in the request."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ullage.errors import UserError
from ullage.model.request import Request
from ullage.model.system import Limits, Memory
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import KernelPeers, PreparedKernels
from ullage.runs.kernels.resources import read_resources
from ullage.runs.options.reading import read_options
from ullage.runs.session import Note
from ullage.suites.memory.cells import HEADERS, Planner
from ullage.suites.memory.options import MemoryOptions
from ullage.suites.memory.sizes import Sizes, choose_sizes, last_bytes, most_bytes, read_caches
from ullage.system.files import ROOT, parse_cpu_list
from ullage.system.hardware import read_memory, read_numa, usable_cores, usable_cpus
from ullage.system.limits import read_limits
from ullage.units import format_bytes, format_volume

if TYPE_CHECKING:
    from ullage.runs.peer_runs import PeerJob
    from ullage.runs.session import Session

# The most CPUs whose pairs are measured, spread evenly over all: pairs grow with the square.
MOST_CPUS: Final = 16


def prepare_memory(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Check everything that can be checked without starting anything."""
    options = read_options(MemoryOptions, request)
    if options.most is None:
        options = with_machine(options)
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    sizes = sizes_of(options)
    planner = Planner(options, sizes, engine_context.description)
    _check_sizes(planner)
    cases = planner.cases()

    def jobs(_session: "Session") -> "list[PeerJob]":
        from ullage.peers.hpcc import installed
        from ullage.runs.peer_runs import Hpcc
        from ullage.suites.memory.peer_runs import PeerScope, peer_jobs

        most, program = options.threads[-1], installed()
        beside = PeerScope(cases, engine_context.description, options.caches, sizes.beyond, most, options.quick)
        return peer_jobs(beside, hpcc=None if program is None else Hpcc(program))

    notes = (*read_resources().notes(), *_notes(options, sizes), *_left_out(planner))
    return PreparedKernels(request, options, HEADERS, cases, KernelPeers(jobs), notes)


def with_machine(options: MemoryOptions, root: Path = ROOT) -> MemoryOptions:
    """Return ``options`` with what this machine has: caches, memory that may be taken, NUMA nodes, CPUs to pair."""
    limits, cpus = read_limits(root), usable_cpus()
    nodes = read_numa(root)
    allowed = parse_cpu_list(limits.memory_nodes_allowed)
    with_memory = [node.node for node in nodes if node.memory_bytes and (not allowed or node.node in allowed)]
    cores: dict[int, int] = {}
    for node in nodes:
        own = [cpu for cpu in parse_cpu_list(node.cpus) if cpu in cpus]
        if own:
            cores[node.node] = usable_cores(root, own) or len(own)
    return options.model_copy(
        update={
            "caches": read_caches(root, cpus),
            "most": most_bytes(read_memory(root), limits),
            "nodes": with_memory,
            "node_threads": cores if with_memory else {},
            "cpus": spread(cpus, MOST_CPUS),
        }
    )


def sizes_of(options: MemoryOptions) -> Sizes:
    """Return the sizes that follow from the frozen options."""
    return choose_sizes(
        options.caches,
        options.threads[-1],
        options.most or most_bytes(Memory(), Limits()),
        quick=options.quick,
    )


def spread(values: list[int], most: int) -> list[int]:
    """Pick at most ``most`` of the values evenly, the first and the last among them."""
    if len(values) <= most:
        return values
    return [values[round(index * (len(values) - 1) / (most - 1))] for index in range(most)]


def _check_sizes(planner: Planner) -> None:
    """Raise ``UserError`` for a working set that would take more memory than it may."""
    most = planner.sizes.most
    may = f"{format_volume(most)} may be used (a quarter of the memory and of the control group's limit)"
    for size in planner.options.working_sets:
        if size > most:
            what = f"a working set of {format_bytes(size)}, but only {may}"
            raise UserError(what, "--working-set", "give smaller working sets")


def _left_out(planner: Planner) -> list[Note]:
    """Note the blocks that are too large for the memory that may be taken."""
    threads, most = planner.most_threads, planner.sizes.most
    large = [block for block in planner.options.blocks if planner.block_set(block, threads) > most]
    if not large:
        return []
    text = (
        f"blocks of {', '.join(map(format_bytes, large))} are left out where {threads} threads copy them: two of each, "
        f"to and from, are more than the {format_volume(most)} that may be taken"
    )
    return [Note("blocks-left-out", text, "name smaller ones with --block")]


def _notes(options: MemoryOptions, sizes: Sizes) -> tuple[Note, ...]:
    """Note what is not as one might expect: unknown caches, small sets, a single thread."""
    notes: list[Note] = []
    if not options.caches:
        text = "the kernel does not state the sizes of the caches: levels have no names"
        notes.append(Note("caches-unknown", text, "read the ends of caches from the curves"))
    if not sizes.is_beyond:
        last = last_bytes(options.caches, options.threads[-1])
        text = (
            f"sets are at most {format_bytes(sizes.beyond)}, since {format_volume(sizes.most)} may be used: less "
            f"than four times the last cache ({format_volume(last)})"
        )
        notes.append(Note("small-sets", text, "give the control group sixteen times the size of the last cache"))
    if options.threads[-1] == 1:
        text = "there is one thread: loaded latency and scaling are not measured"
        notes.append(Note("one-thread", text, "allow more cores"))
    return tuple(notes)
