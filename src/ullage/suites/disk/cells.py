# SPDX-License-Identifier: Apache-2.0
"""The cells of a disk run: blocks by threads in two orders, and small random requests by how many are in flight. Pure.

A thread is a rank with a file of its own, or one of several of a single rank that share its file; the threads of a case
share its volume.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, Protocol

from ullage.engine import find_registered
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import place_ranks
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Parameters, Target
from ullage.parameters import count_of
from ullage.peers import Installed
from ullage.peers.fio import FioJob, Mode, fio_command, run_fio
from ullage.peers.place import marked_folder
from ullage.runs.cells.direct import DirectIo
from ullage.runs.cells.planning import Cell, Way, each_once, make_cell, way_of
from ullage.runs.cells.volume import share_bytes
from ullage.runs.peer_runs import PeerJob, PeerNumbers
from ullage.suites.disk.options import DiskOptions
from ullage.units import format_bytes
from ullage.uri import target_path, target_scheme

if TYPE_CHECKING:
    from pathlib import Path

ORDERS: Final = ("sequential", "random")
DEEP: Final = "uring"
PLAIN: Final = "posix"
MAPPED: Final = ("mmap", "pmem")
_QUEUE_DEPTH: Final = "queue_depth"
_THREADS: Final = "threads"
# A core has at most so many ranks where a rank keeps one small request in flight and has one thread.
RANKS_A_CORE: Final = 4


@dataclass(frozen=True)
class Concurrency:
    """Who works at the same time: ranks, threads of each rank, requests that each thread keeps in flight."""

    ranks: int = 1
    threads: int = 1
    depth: int = 1


@dataclass(frozen=True)
class Spot:
    """A target as this suite finds it. ``deepest``: small requests that one thread keeps in flight at most.

    ``backend`` moves the blocks, ``small_backend`` the small requests, which have ``small`` bytes. ``threads`` and
    ``small_threads``: most of a rank that they serve.
    """

    target: Target
    backend: str
    small_backend: str
    direct: DirectIo
    small: int
    deepest: int
    threads: int = 1
    small_threads: int = 1

    def fits(self, size: int) -> int:
        """Return ``size``, rounded up to what direct I/O serves."""
        return self.direct.fits(size)


def make_spot(target: Target, options: DiskOptions, description: Describe, direct: DirectIo) -> Spot:
    """Return the target with its backends; raise ``UserError`` for one that this engine or machine lacks."""
    if target_path(target) is None:
        own = target_scheme(target)
        find_registered(description, "backend", own)
        return Spot(target, own, own, DirectIo(served=False), options.small, 1)
    backend = find_registered(description, "backend", options.backend or PLAIN).name
    small = options.backend or (DEEP if why_not_deep(description) is None else PLAIN)
    small_one = find_registered(description, "backend", small)
    if options.backend in MAPPED:
        direct = DirectIo(served=False)  # a mapping is the page cache, or persistent memory
    threads, small_threads = (find_registered(description, "backend", name).most(_THREADS) for name in (backend, small))
    spot = Spot(target, backend, small, direct, 0, small_one.most(_QUEUE_DEPTH), threads, small_threads)
    return replace(spot, small=spot.fits(options.small))


def why_not_deep(description: Describe) -> str | None:
    """Return why no backend keeps several requests of a rank in flight, or None when one does."""
    found = next((backend for backend in description.backends if backend.name == DEEP), None)
    if found is None:
        return f"this engine has no backend '{DEEP}'"
    return None if found.available else found.reason or "this build lacks it"


def concurrencies(spot: Spot, options: DiskOptions, cores: int) -> list[Concurrency]:
    """Return the concurrency of every case with small requests.

    Raise ``UserError`` for a depth that the backend does not serve.
    """
    deepest = max(spot.deepest, spot.small_threads)
    if deepest > 1 and max(options.depths) > deepest:
        what = f"backend '{spot.small_backend}' keeps at most {deepest} requests in flight"
        raise UserError(what, "--depth", "give a smaller depth", EXIT_BAD_INPUT)
    if spot.deepest > 1:
        return [Concurrency(depth=depth) for depth in options.depths]
    if spot.small_threads > 1:
        return [Concurrency(threads=depth) for depth in options.depths]
    most = RANKS_A_CORE * cores
    return [Concurrency(ranks) for ranks in dict.fromkeys(min(depth, most) for depth in options.depths)]


def block_concurrencies(spot: Spot, options: DiskOptions) -> list[Concurrency]:
    """Return the concurrency of every case with blocks.

    Raise ``UserError`` for more threads of a rank than the backend serves.
    """
    if options.by == "ranks":
        return [Concurrency(ranks) for ranks in options.threads]
    if max(options.threads) > spot.threads:
        what = f"backend '{spot.backend}' serves at most {spot.threads} threads of a process"
        raise UserError(what, "--by threads", "use --by ranks, or --backend posix", EXIT_BAD_INPUT)
    return [Concurrency(threads=threads) for threads in options.threads]


@dataclass(frozen=True)
class Planner:
    """Makes cells. ``cores``: usable ones of this node, None when not known; ``cpus`` stands in for them then."""

    options: DiskOptions
    spots: Sequence[Spot]
    description: Describe
    cores: int | None
    cpus: int

    def blocks(self, volume_bytes: int) -> list[Cell]:
        """Return a cell for every combination of target, threads, order and block."""
        return _unique(
            self._cell(
                spot,
                self._layout(at_once, is_small=False),
                self._way(spot, order, spot.backend, at_once),
                spot.fits(block),
                volume_bytes,
            )
            for spot in self.spots
            for at_once in block_concurrencies(spot, self.options)
            for order in ORDERS
            for block in self.options.blocks
        )

    def smalls(self, volume_bytes: int) -> list[Cell]:
        """Return a cell for every target with every number of small requests in flight."""
        return _unique(
            self._cell(
                spot,
                self._layout(at_once, is_small=True),
                self._way(spot, "random", spot.small_backend, at_once),
                spot.small,
                volume_bytes,
            )
            for spot in self.spots
            for at_once in concurrencies(spot, self.options, self.cores or self.cpus)
        )

    def probes(self, most_bytes: int) -> list[Cell]:
        """Return cells of one rank that show what each kind costs.

        Blocks are probed with two volumes, small requests with one for each depth.
        """
        found: list[Cell] = []
        alone = Concurrency()
        for spot in self.spots:
            block = spot.fits(sorted(self.options.blocks)[len(self.options.blocks) // 2])
            for order in ORDERS:
                way, layout = self._way(spot, order, spot.backend, alone), self._layout(alone, is_small=True)
                sizes = [max(block, min(size, most_bytes // 4)) for size in _PROBE_BLOCKS]
                found += [
                    self._cell(spot, layout, way, block, size) for size in (sizes[0], max(sizes[1], 2 * sizes[0]))
                ]
            for asked in concurrencies(spot, self.options, self.cores or self.cpus):
                at_once = replace(asked, ranks=1)
                way = self._way(spot, "random", spot.small_backend, at_once)
                layout = self._layout(at_once, is_small=True)
                found.append(self._cell(spot, layout, way, spot.small, min(_PROBE_SMALL, most_bytes)))
        return _unique(found)

    def _way(self, spot: Spot, order: str, backend: str, at_once: Concurrency) -> Way:
        """Build the parameters as plans of other suites have them, checked against the engine."""
        found = find_registered(self.description, "backend", backend)
        own: Parameters = {"direct": True} if spot.direct.served else {}
        holds_data = "data" in found.capabilities
        workload: Parameters = {
            "phases": ["write", "read"],
            "file_mode": "per-process",
            "order": order,
            "cache": "none" if spot.direct.served or not holds_data else "advise",
            **({} if holds_data else {"verify": "none"}),
            **({_QUEUE_DEPTH: at_once.depth} if at_once.depth > 1 else {}),
            **({_THREADS: at_once.threads} if at_once.threads > 1 else {}),
        }
        return way_of(spot.target, (backend, own), workload, self.description)

    def _layout(self, at_once: Concurrency, *, is_small: bool) -> Layout:
        ranks = at_once.ranks
        # Threads of a rank need the cores of all. A core that the device does not interrupt costs a small request a
        # fifth more: a single thread goes where the kernel wants it, as it would in an application, and as the peer's.
        is_free = self.cores is None or at_once.threads > 1 or (is_small and ranks == 1)
        return place_ranks(ranks, 1, ranks, None if is_free else self.cores)

    def _cell(self, spot: Spot, layout: Layout, way: Way, block: int, volume_bytes: int) -> Cell:
        cell = make_cell(way, layout, block, share_bytes(volume_bytes, layout.ranks, block))
        return replace(cell, kind=kind_of(cell, spot.small))


_PROBE_BLOCKS: Final = (16 << 20, 64 << 20)
_PROBE_SMALL: Final = 512 << 10


def _unique(cells: Iterable[Cell]) -> list[Cell]:
    return each_once(cells)


def concurrency_of(cell: Cell) -> Concurrency:
    """Return the ranks, threads and queue depth that work at the same time in ``cell``."""
    parameters = cell.case.workload.parameters
    return Concurrency(cell.layout.ranks, count_of(parameters, _THREADS, 1), count_of(parameters, _QUEUE_DEPTH, 1))


def is_random(cell: Cell) -> bool:
    """Tell whether the blocks of ``cell`` are visited in random order."""
    return cell.case.workload.parameters.get("order") == "random"


def kind_of(cell: Cell, small: int) -> str:
    """Say what the cost of ``cell`` depends on besides target and backend.

    ``small``: bytes of its target's small requests.
    """
    if cell.block_bytes == small:
        at_once = concurrency_of(cell)
        return f"with {format_bytes(small)} requests at depth {at_once.threads * at_once.depth}"
    return "in random order" if is_random(cell) else "in sequential order"


def with_kinds(cells: Iterable[Cell], smalls: Mapping[str, int]) -> list[Cell]:
    """Add the kind to cells read back from plans, which do not state it.

    ``smalls``: bytes of a small request by target.
    """
    return [replace(cell, kind=kind_of(cell, smalls.get(cell.target.name, 0))) for cell in cells]


# -- fio beside us: which job of it does the work of a cell ------------------------------------------------------------

Phase = Literal["write", "read"]
TOOL: Final = "fio"
PHASES: Final[tuple[Phase, ...]] = ("write", "read")
# Starting and ending fio, once for each phase, is assumed to take this long until it was measured.
START_S: Final = 0.25
_LONGEST_S: Final = 600.0


class RunFioJob(Protocol):
    """Does a job in a folder, in ``limit_s`` at most; ``PeerError`` when it gives no number."""

    def __call__(self, program: Installed, job: FioJob, file_folder: "Path", *, limit_s: float) -> dict[str, float]:
        """Run the job and return its values by the name of the metric."""
        ...


def fio_job_of(cell: Cell, phase: Phase) -> FioJob:
    """Translate the work of one phase of ``cell`` into a job of fio."""
    modes: dict[tuple[Phase, bool], Mode] = {
        ("write", False): "write",
        ("read", False): "read",
        ("write", True): "randwrite",
        ("read", True): "randread",
    }
    return FioJob(
        mode=modes[phase, is_random(cell)],
        block_bytes=cell.block_bytes,
        volume_bytes=cell.dataset_bytes,
        jobs=_jobs(cell),
        depth=concurrency_of(cell).depth,
        engine="io_uring" if cell.case.backend.name == DEEP else "psync",
        direct=cell.case.backend.parameters.get("direct") is True,
    )


@dataclass(frozen=True)
class FioJobs:
    """Makes the work of fio for each cell.

    ``own_s``: what a repetition of ours takes, beyond which fio's takes as long as others of it did.
    """

    run_id: str
    program: Installed
    own_s: Callable[[Cell], float]
    do: RunFioJob = run_fio

    def job_of(self, cell: Cell) -> PeerJob | None:
        """Return the peer's job for ``cell``, or None where the target has no place for files."""
        place = target_path(cell.target)
        if place is None:
            return None
        start_s = len(PHASES) * START_S
        return PeerJob(
            TOOL,
            (cell.case.id,),
            lambda limit_s: self._numbers(cell, place, limit_s),
            self.own_s(cell),
            start_s,
            what=f" for {_label(cell)}",
        )

    def _numbers(self, cell: Cell, place: "Path", limit_s: float | None) -> Iterable[PeerNumbers]:
        """Yield the numbers of a write, and of a read of what it has left."""
        with marked_folder(place, self.run_id, cell.case.id, _jobs(cell)) as folder:
            for phase in PHASES:
                job = fio_job_of(cell, phase)
                values = self.do(self.program, job, folder, limit_s=_LONGEST_S if limit_s is None else limit_s)
                command = fio_command(self.program, job)
                yield PeerNumbers(cell.case.id, phase, values, self.program.version, command)


def _jobs(cell: Cell) -> int:
    at_once = concurrency_of(cell)
    return at_once.ranks * at_once.threads


def _label(cell: Cell) -> str:
    order = "random" if is_random(cell) else "sequential"
    threads, depth = _jobs(cell), concurrency_of(cell).depth
    with_what = f"{threads} thread{'s' if threads > 1 else ''}" if depth == 1 else f"depth {depth}"
    return f"{cell.target.name}, {order} {format_bytes(cell.block_bytes)} with {with_what}"
