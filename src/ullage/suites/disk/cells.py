# SPDX-License-Identifier: Apache-2.0
"""The cells of a disk run: blocks by threads in two orders, and small random requests by how many are in flight. Pure.

A thread is a rank with a file of its own, or one of several of a single rank that share its file; the threads of a case
share its volume.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, Protocol

from ullage.engine import find_registered
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import place_ranks
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Parameters, Target
from ullage.parameters import count_of
from ullage.peers import Installed
from ullage.peers.fio import FioJob, Mode, fio_command, run_fio
from ullage.peers.place import marked_folder
from ullage.runs.cells.direct import DirectIo, way_of_own_files
from ullage.runs.cells.planning import Cell, each_once, make_cell
from ullage.runs.cells.volume import share_bytes
from ullage.runs.peer_runs import PeerJob, PeerNumbers
from ullage.suites.disk.options import DiskOptions
from ullage.units import format_bytes
from ullage.uri import target_path, target_scheme

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
    """A target as this suite finds it.

    ``backend`` moves the blocks, ``small_backend`` the small requests, which have ``small`` bytes.
    """

    target: Target
    backend: Registered
    small_backend: Registered
    direct: DirectIo
    small: int

    @property
    def threads(self) -> int:
        """The most threads of a rank that move blocks."""
        return self._most(self.backend, _THREADS)

    @property
    def small_threads(self) -> int:
        """The most threads of a rank that send small requests."""
        return self._most(self.small_backend, _THREADS)

    @property
    def deepest(self) -> int:
        """Small requests that one thread keeps in flight at most."""
        return self._most(self.small_backend, _QUEUE_DEPTH)

    def _most(self, backend: Registered, name: str) -> int:
        return 1 if target_path(self.target) is None else backend.most(name)


def make_spot(target: Target, options: DiskOptions, description: Describe, direct: DirectIo) -> Spot:
    """Return the target with its backends; raise ``UserError`` for one that this engine or machine lacks."""
    if target_path(target) is None:
        own = find_registered(description, "backend", target_scheme(target))
        return Spot(target, own, own, DirectIo(served=False), options.small)
    backend = find_registered(description, "backend", options.backend or PLAIN)
    small = options.backend or (DEEP if why_not_deep(description) is None else PLAIN)
    if options.backend in MAPPED:
        direct = DirectIo(served=False)  # a mapping is the page cache, or persistent memory
    return Spot(target, backend, find_registered(description, "backend", small), direct, direct.fits(options.small))


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
        what = f"backend '{spot.small_backend.name}' keeps at most {deepest} requests in flight"
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
        what = f"backend '{spot.backend.name}' serves at most {spot.threads} threads of a process"
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
        return each_once(
            self._cell(spot, spot.backend, order, at_once, spot.direct.fits(block), volume_bytes)
            for spot in self.spots
            for at_once in block_concurrencies(spot, self.options)
            for order in ORDERS
            for block in self.options.blocks
        )

    def smalls(self, volume_bytes: int) -> list[Cell]:
        """Return a cell for every target with every number of small requests in flight."""
        return each_once(
            self._small(spot, at_once, volume_bytes)
            for spot in self.spots
            for at_once in concurrencies(spot, self.options, self.cores or self.cpus)
        )

    def probes(self, most_bytes: int) -> list[Cell]:
        """Return cells of one rank that show what each kind costs.

        Blocks are probed with two volumes, small requests with one for each depth.
        """
        found: list[Cell] = []
        for spot in self.spots:
            block = spot.direct.fits(sorted(self.options.blocks)[len(self.options.blocks) // 2])
            small, large = (max(block, min(size, most_bytes // 4)) for size in _PROBE_BLOCKS)
            found += [
                self._cell(spot, spot.backend, order, Concurrency(), block, size, is_alone=True)
                for order in ORDERS
                for size in (small, max(large, 2 * small))
            ]
            found += [
                self._small(spot, replace(at_once, ranks=1), min(_PROBE_SMALL, most_bytes))
                for at_once in concurrencies(spot, self.options, self.cores or self.cpus)
            ]
        return each_once(found)

    def _small(self, spot: Spot, at_once: Concurrency, volume_bytes: int) -> Cell:
        is_alone = at_once.ranks == 1
        return self._cell(spot, spot.small_backend, "random", at_once, spot.small, volume_bytes, is_alone=is_alone)

    def _cell(
        self,
        spot: Spot,
        backend: Registered,
        order: str,
        at_once: Concurrency,
        block: int,
        volume_bytes: int,
        *,
        is_alone: bool = False,
    ) -> Cell:
        """Make a cell with the parameters as plans of other suites have them. ``is_alone``: of a single thread."""
        holds_data = "data" in backend.capabilities
        more: Parameters = {
            "order": order,
            **({} if holds_data else {"verify": "none"}),
            **({_QUEUE_DEPTH: at_once.depth} if at_once.depth > 1 else {}),
            **({_THREADS: at_once.threads} if at_once.threads > 1 else {}),
        }
        direct = spot.direct.served
        way = way_of_own_files(spot.target, backend.name, self.description, more, direct=direct, cached=holds_data)
        # Threads of a rank need the cores of all. A core that the device does not interrupt costs a small request a
        # fifth more: a single thread goes where the kernel wants it, as it would in an application, and as the peer's.
        is_free = at_once.threads > 1 or is_alone
        layout = place_ranks(at_once.ranks, 1, at_once.ranks, None if is_free else self.cores)
        cell = make_cell(way, layout, block, share_bytes(volume_bytes, layout.ranks, block))
        return replace(cell, kind=kind_of(cell, spot.small))


_PROBE_BLOCKS: Final = (16 << 20, 64 << 20)
_PROBE_SMALL: Final = 512 << 10


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


Phase = Literal["write", "read"]
TOOL: Final = "fio"
PHASES: Final[tuple[Phase, ...]] = ("write", "read")
# Starting and ending fio, once for each phase, is assumed to take this long until it was measured.
START_S: Final = 0.25
_LONGEST_S: Final = 600.0


class RunFioJob(Protocol):
    """Does a job in a folder, in ``limit_s`` at most; ``PeerError`` when it gives no number."""

    def __call__(self, program: Installed, job: FioJob, file_folder: Path, *, limit_s: float) -> dict[str, float]:
        """Run the job and return its values by the name of the metric."""
        ...


def _fio_job_of(cell: Cell, phase: Phase) -> FioJob:
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

    def _numbers(self, cell: Cell, place: Path, limit_s: float | None) -> Iterable[PeerNumbers]:
        """Yield the numbers of a write, and of a read of what it has left."""
        with marked_folder(place, self.run_id, cell.case.id, _jobs(cell)) as folder:
            for phase in PHASES:
                job = _fio_job_of(cell, phase)
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
