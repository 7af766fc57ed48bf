# SPDX-License-Identifier: Apache-2.0
"""The cases of a memory run, part by part, and what this machine allows: found here, once, it stays in the request."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Final

from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.plan import Parameters
from ullage.model.request import Request
from ullage.model.system import Limits, Memory
from ullage.report.points import spread_out
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.options import MEMORY
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.kernels.resources import read_resources
from ullage.runs.options.reading import read_options
from ullage.runs.peer_runs import KernelPeers, PeerJob
from ullage.runs.session import Note, Session
from ullage.suites.memory.options import (
    MIB,
    MemoryOptions,
    Sizes,
    between,
    choose_sizes,
    doubling,
    last_bytes,
    most_bytes,
    read_caches,
)
from ullage.system.files import ROOT, parse_cpu_list
from ullage.system.hardware import read_memory, read_numa, usable_cores, usable_cpus
from ullage.system.limits import read_limits
from ullage.units import format_bytes, format_volume

HEADERS: Final = ("part", "work", "threads", "working set", "further")
KERNELS: Final = ("read", "write", "read-write", "copy", "scale", "add", "triad")
# These store nothing, or only to what they have just read.
_ONE_KIND: Final = frozenset({"read", "read-write"})
CURVE_KERNELS: Final = ("read", "copy", "triad")
STORES: Final = ("ordinary", "non-temporal")
# Chased within so much at a time, the translations of 4 KiB pages stay in the second-level TLB of any core of today.
LOCAL_BYTES: Final = 256 << 10
_CHAINS: Final = (1, 2, 4, 8, 12, 16)
_QUICK_CHAINS: Final = (1, 4, 16)
# Pauses of an injecting thread between two lines; 0 is all it can do.
_DELAYS: Final = (0, 5, 10, 30, 200)
_QUICK_DELAYS: Final = (0, 10, 100)
_INJECTIONS: Final = ("read", "non-temporal-write")
_IDLE: Final = 20_000
# The least bytes of a set for each thread: some lines of each array.
_LEAST_EACH: Final = 1 << 10
# Sets up to this need no warm pages and few passes.
_SMALL: Final = 4 * MIB
# Rates of first touch, and of making a random cycle of lines; they were measured here and are generous.
_TOUCH_BYTES_PER_S: Final = 2.5e9
_CYCLE_BYTES_PER_S: Final = 1e9
_AROUND_S: Final = 0.01
_WINDOWS: Final = 6
_ORDERS: Final = {"RWS": "sequential", "RWR": "random"}


@dataclass(frozen=True)
class Planner:
    """Makes cases; a case that two parts want is one case, in the table under the first of them."""

    options: MemoryOptions
    sizes: Sizes
    description: Describe

    @property
    def most_threads(self) -> int:
        """The most threads of a case on this node."""
        return self.options.threads[-1]

    def cases(self) -> list[KernelCase]:
        """Return the cases of all parts, each once."""
        parts = (self.blocks, self.streams, self.curves, self.access_times, self.parallel_chases, self.cores)
        found: dict[str, KernelCase] = {}
        for part in (*parts, self.loaded, self.nodes, self.updates):
            for case in part():
                found.setdefault(case.case.id, case)
        return list(found.values())

    def blocks(self) -> Iterator[KernelCase]:
        """Yield copies of blocks in order and at random, for the tables of RWS and RWR."""
        for threads, (name, order), block in product(self._ends(), _ORDERS.items(), self.options.blocks):
            if (size := self.block_set(block, threads)) <= self.sizes.most:
                further = f"{name}, blocks of {format_bytes(block)}"
                yield self._stream("blocks", "copy", size, threads, further, order=order, block_bytes=block)

    def block_set(self, block: int, threads: int) -> int:
        """Return the bytes of both arrays: whole blocks for every thread, two of each at least, even if too many."""
        unit = 2 * block * threads
        above = -(-self.sizes.beyond // unit) * unit
        return above if above <= self.sizes.most else max(2, self.sizes.beyond // unit) * unit

    def streams(self) -> Iterator[KernelCase]:
        """Yield STREAM's kernels, plain reads and writes over a set that no cache holds, with both kinds of stores."""
        for threads in self._ends():
            for kernel in KERNELS:
                for stores in self._stores() if kernel not in _ONE_KIND else STORES[:1]:
                    yield self._stream("STREAM", kernel, self.sizes.beyond, threads, stores=stores)
        # The headline once more, in the pages that a program can ask for.
        for stores in self._stores():
            further = f"{stores}, huge pages"
            given = {"stores": stores, "pages": "huge"}
            yield self._stream("STREAM", "triad", self.sizes.beyond, self.most_threads, further, **given)

    def curves(self) -> Iterator[KernelCase]:
        """Yield the bandwidths over the working set, by one thread and by all."""
        sizes = self.options.working_sets or doubling(self.sizes.beyond, 4 if self.options.quick else 2)
        finer = [] if self.options.quick or self.options.working_sets else between(sizes)
        for threads in dict.fromkeys((self.options.threads[0], self.most_threads)):
            for kernel in CURVE_KERNELS:
                # Between two sizes only one curve is looked at: the end of a cache is the same for all.
                is_finest = kernel == CURVE_KERNELS[0] and threads == self.options.threads[0]
                wanted = sorted({*sizes, *(finer if is_finest else ())})
                for size in (size for size in wanted if size >= _LEAST_EACH * threads):
                    yield self._stream("curve", kernel, size, threads)

    def access_times(self) -> Iterator[KernelCase]:
        """Yield chases over the working set in small and in huge pages, and within a few pages at a time."""
        sizes = self.options.working_sets or doubling(self.sizes.chased, 4 if self.options.quick else 2)
        for pages in ("small", "huge"):
            for size in sizes:
                yield self._chase("access time", size, pages=pages)
        yield self._chase("access time", self.sizes.chased, pages="default")
        local = [size for size in sizes if size >= 4 * LOCAL_BYTES][::-2]
        for size in local[:1] if self.options.quick else local[::-1]:
            yield self._chase("access time", size, pages="small", locality_bytes=LOCAL_BYTES)

    def parallel_chases(self) -> Iterator[KernelCase]:
        """Yield several chases in one thread, which tell how many loads from memory a core keeps under way."""
        for chains in _QUICK_CHAINS if self.options.quick else _CHAINS:
            yield self._chase("parallel", self.sizes.chased, pages="huge", chains=chains)

    def cores(self) -> Iterator[KernelCase]:
        """Yield the round trips of a line between every two CPUs."""
        for first, second in combinations(self.options.cpus, 2):
            words = ("cores", "core-to-core", "2", "", f"CPU {first} and {second}")
            yield self._case("core-to-core", {"cpu_a": first, "cpu_b": second}, words, 0, 0.0)

    def loaded(self) -> Iterator[KernelCase]:
        """Yield chases while all other threads move as much as their pauses let them."""
        injectors = self.most_threads - 1
        # The chaser and every injector have a set of their own.
        size = min(self.sizes.beyond, max(1, self.sizes.most // (1 + injectors) // MIB) * MIB)
        delays = _QUICK_DELAYS if self.options.quick else _DELAYS
        injections = _INJECTIONS[:1] if self.options.quick else _INJECTIONS
        for injection, delay in product(injections, (*delays, _IDLE) if injectors > 0 else ()):
            load: Parameters = {"injectors": injectors, "injection": injection, "delay": delay}
            words = ("loaded", "chase", f"1 + {injectors}", format_bytes(size), f"{injection}, delay {delay}")
            given: Parameters = {**load, "working_set_bytes": size, "pages": "huge"}
            yield self._case("loaded-latency", given, words, size, size / _CYCLE_BYTES_PER_S)

    def nodes(self) -> Iterator[KernelCase]:
        """Yield bandwidth and access time of every NUMA node's memory from every node's cores."""
        for cpu_node, cores in sorted(self.options.node_threads.items()):
            for node in self.options.nodes:
                where = {"cpu_node": cpu_node, "memory_node": node}
                further = f"from node {cpu_node} to memory of node {node}"
                threads = min(cores, self.most_threads)
                yield self._stream("NUMA", "read", self.sizes.beyond, threads, further, **where)
                yield self._chase("NUMA", self.sizes.chased, further, pages="huge", **where)

    def updates(self) -> Iterator[KernelCase]:
        """Yield the random updates of HPC Challenge's RandomAccess."""
        table = self.sizes.table
        for threads in self._ends():
            words = ("updates", "random updates", str(threads), format_bytes(table), "")
            # All updates are done a second time to be checked.
            ready_s = 2 * table / _TOUCH_BYTES_PER_S
            yield self._case("updates", {"table_bytes": table, "threads": threads}, words, table, ready_s)

    # -- one case ------------------------------------------------------------------------------------------------------

    def _ends(self) -> Iterable[int]:
        """Return the thread counts of a part: those asked for, or the last alone in a first look."""
        return self.options.threads[-1:] if self.options.quick else self.options.threads

    def _stores(self) -> Iterable[str]:
        """Return both kinds where the engine knows this CPU's non-temporal stores, else the ordinary ones alone."""
        has_both = STORES[1] in find_registered(self.description, "workload", "stream").capabilities
        return STORES if has_both else STORES[:1]

    def _stream(
        self, part: str, kernel: str, size: int, threads: int, further: str = "", **parameters: int | str
    ) -> KernelCase:
        given: Parameters = {"kernel": kernel, "threads": threads, "working_set_bytes": size, **parameters}
        stores = str(parameters.get("stores", STORES[0]))
        words = (part, kernel, str(threads), format_bytes(size), further or ("" if kernel in _ONE_KIND else stores))
        return self._case("stream", given, words, size, size / _TOUCH_BYTES_PER_S)

    def _chase(self, part: str, size: int, further: str = "", **parameters: int | str) -> KernelCase:
        kinds = [f"{parameters.get('pages', 'default')} pages"]
        locality, chains = parameters.get("locality_bytes", 0), parameters.get("chains", 1)
        if isinstance(locality, int) and locality:
            kinds.append(f"within {format_bytes(locality)}")
        if chains != 1:
            kinds.append(f"{chains} chains")
        words = (part, "chase", "1", format_bytes(size), ", ".join(filter(None, (further, *kinds))))
        return self._case("chase", {"working_set_bytes": size, **parameters}, words, size, size / _CYCLE_BYTES_PER_S)

    def _case(
        self, workload: str, parameters: Parameters, words: tuple[str, ...], size: int, ready_s: float
    ) -> KernelCase:
        """Make a case; ``ready_s`` is the time that it takes before the windows.

        Windows are shorter where passes are, so that hundreds of cases take turns often.
        """
        window_s, warm_up_s = (0.003, 0.004) if size <= _SMALL else (0.01, 0.02)
        pace: Parameters = {"windows": _WINDOWS, "window_s": window_s, "warm_up_s": warm_up_s}
        seconds = ready_s + warm_up_s + _WINDOWS * window_s + _AROUND_S
        return kernel_case(workload, {**parameters, **pace}, MEMORY, words, self.description, seconds=seconds)


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

    def jobs(_session: Session) -> list[PeerJob]:
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
            "cpus": spread_out(cpus, MOST_CPUS),
        }
    )


def sizes_of(options: MemoryOptions) -> Sizes:
    """Return the sizes that follow from the frozen options."""
    return choose_sizes(
        options.caches, options.threads[-1], options.most or most_bytes(Memory(), Limits()), quick=options.quick
    )


def _check_sizes(planner: Planner) -> None:
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
