# SPDX-License-Identifier: Apache-2.0
"""Suite ``pmem``: its cases (interfaces by ranks, transfer size and region), what a run does, and its rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from ullage.analysis.verdicts.grades import sound_rows
from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError
from ullage.launch.base import place_ranks
from ullage.model.describe import Describe
from ullage.model.plan import Parameters, Scalar, Target
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.model.system import Place
from ullage.parameters import count_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import Measured, RowContext, join
from ullage.runs.ceilings import with_ceilings
from ullage.runs.cells.direct import DirectIo, direct_at, way_of_own_files
from ullage.runs.cells.planning import Cell, each_once, make_cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_paths, checked_machine
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, told_rows, usual
from ullage.suites.pmem.findings import NOT_ASKED, NUMA_PATH, findings_of, persistence_findings, with_placement
from ullage.suites.pmem.options import MOST_TRANSFERS, Interface, NumaPath, PmemOptions, region_of
from ullage.system.statx import is_dax
from ullage.units import format_bytes, format_volume
from ullage.uri import target_folder

Word = TypeVar("Word", bound=str)


_BACKENDS: Final[Mapping[Interface, str]] = {"posix": "posix", "mmap": "mmap", "pmem": "pmem", "direct": "posix"}


@dataclass(frozen=True)
class Spot:
    """A target as this suite finds it. ``is_dax``: its files are persistent memory without a page cache.

    ``numa_node``: that of its device, None when the kernel does not say.
    """

    target: Target
    is_memory: bool
    is_dax: bool
    direct: DirectIo
    numa_node: int | None = None

    @property
    def nature(self) -> str:
        """What is behind the target."""
        if self.is_dax:
            return "persistent memory (DAX)"
        return "memory, not storage" if self.is_memory else "a drive, through the page cache"

    @property
    def usual(self) -> tuple[Interface, ...]:
        """The interfaces that suit it: O_DIRECT says nothing new of what has no page cache, libpmem little of a drive.

        On a drive libpmem calls msync for each transfer.
        """
        return ("posix", "mmap", "pmem") if self.is_dax or self.is_memory else ("posix", "mmap", "direct")


def interfaces_of(spot: Spot, options: PmemOptions, description: Describe) -> list[Interface]:
    """Return the interfaces to measure at ``spot``; raise ``UserError`` where one was asked for that is not there."""
    if not options.interfaces:
        return [one for one in spot.usual if why_not(one, spot, description) is None]
    return _checked("--interface", options.interfaces, lambda one: why_not(one, spot, description))


def _checked(option: str, asked: Sequence[Word], why: Callable[[Word], str | None]) -> list[Word]:
    """Return what was ``asked`` for by ``option``; raise ``UserError`` where there is a reason why it cannot be had."""
    for one in asked:
        if (reason := why(one)) is not None:
            right = f"leave it out of {option}"
            raise UserError(f"not available: {reason}", f"{option} {one}", right, EXIT_ENVIRONMENT)
    return list(asked)


def why_not(interface: Interface, spot: Spot, description: Describe) -> str | None:
    """Return why ``interface`` cannot be measured at ``spot``; None where it can."""
    if interface == "direct" and not spot.direct.served:
        return f"target '{spot.target.name}' refuses direct I/O (O_DIRECT)"
    name = _BACKENDS[interface]
    found = next((backend for backend in description.backends if backend.name == name), None)
    if found is None:
        return f"this engine has no backend '{name}'"
    return None if found.available else found.reason or f"this build lacks backend '{name}'"


def numa_paths_of(spot: Spot, options: PmemOptions, nodes: int) -> list[NumaPath]:
    """Return the NUMA paths to measure at ``spot``; raise ``UserError`` where one was asked for that cannot be had.

    ``nodes``: NUMA nodes of this machine that have CPUs.
    """
    if not options.numa_paths:
        usual: tuple[NumaPath, ...] = ("local", "remote")
        return [] if any(why_not_path(one, spot, nodes) is not None for one in usual) else list(usual)
    return _checked("--numa-path", options.numa_paths, lambda one: why_not_path(one, spot, nodes))


def why_not_path(path: NumaPath, spot: Spot, nodes: int) -> str | None:
    """Return why ranks cannot be bound so at ``spot``; None where they can."""
    if path in ("remote", "interleave") and nodes < 2:
        return "one NUMA node"
    if path in ("local", "remote") and spot.numa_node is None:
        return f"the kernel states no NUMA node of the device of target '{spot.target.name}'"
    return None


def notes_on(spot: Spot, options: PmemOptions, description: Describe) -> list[Note]:
    """Return notes on interfaces that suit ``spot`` but were left out, and on sizes that direct I/O changes."""
    found: list[Note] = []
    if not options.interfaces:
        reasons = {one: why_not(one, spot, description) for one in spot.usual}
        advice = "make it available, or name the others by --interface"
        what = "interface {} was not measured at target '{}': not available: {}"
        found += [
            Note("interface-left-out", what.format(one, spot.target.name, reason), advice)
            for one, reason in reasons.items()
            if reason is not None
        ]
    if "direct" in interfaces_of(spot, options, description):
        found += spot.direct.notes(spot.target.name, (options.block, *options.transfers))
    return found


@dataclass(frozen=True)
class Planner:
    """Makes cells. ``cores``: usable ones of this node, None when not known. ``nodes``: its NUMA nodes with CPUs."""

    options: PmemOptions
    description: Describe
    cores: int | None
    nodes: int = 1

    def cells(self, spots: Iterable[Spot]) -> list[Cell]:
        """Return the cells of all targets, each once."""
        return with_kinds(each_once(cell for spot in spots for cell in self._of_spot(spot)))

    def _of_spot(self, spot: Spot) -> Iterator[Cell]:
        options = self.options
        for interface in interfaces_of(spot, options, self.description):
            for ranks in options.ranks:
                yield self._cell(spot, interface, ranks, options.block, options.volume)
            for transfer in options.transfers:
                yield self._cell(spot, interface, 1, transfer, options.volume)
            for region in options.regions:
                yield self._cell(spot, interface, 1, min(options.block, region), region)
            for path in numa_paths_of(spot, options, self.nodes):
                yield self._cell(spot, interface, self._ranks_of_a_path(), options.block, options.volume, path)

    def _ranks_of_a_path(self) -> int:
        """Return the most ranks asked for that have a core each on one NUMA node; nodes are taken to be alike."""
        most = max(1, (self.cores or 1) // self.nodes)
        return max((ranks for ranks in self.options.ranks if ranks <= most), default=1)

    def _cell(
        self, spot: Spot, interface: Interface, ranks: int, block: int, region: int, path: NumaPath | None = None
    ) -> Cell:
        options, is_direct = self.options, interface == "direct"
        block = spot.direct.fits(block) if is_direct else block
        # Where the NUMA path is asked for, the launcher binds none, since the engine does.
        cores = self.cores if path is None else None
        layout = place_ranks(1, 1, 1, cores)
        if ranks > 1:
            layout = place_ranks(ranks, options.nodes, options.ranks_per_node, cores, options.hosts)
        more: Parameters = {} if path is None else {"numa_path": path}
        cached, name = not spot.is_dax, _BACKENDS[interface]
        way = way_of_own_files(spot.target, name, self.description, more, direct=is_direct, cached=cached)
        return make_cell(way, layout, block, region_of(block, region))


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Return cells, also those read back from plans, with what the cost of a byte depends on besides the place."""
    words = ((cell, " direct" if cell.case.backend.parameters.get("direct") is True else "") for cell in cells)
    return [replace(cell, kind=f"with {format_bytes(cell.block_bytes)} transfers{direct}") for cell, direct in words]


def interface_of(backend: str, parameters: Mapping[str, object]) -> str:
    """Return the interface that a case of ``backend`` with ``parameters`` has measured."""
    return "direct" if backend == "posix" and parameters.get("direct") is True else backend


def prepare_pmem(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(PmemOptions, request)
    check_paths(request.targets)
    machine = checked_machine(request.targets)
    places = {place.target: place for place in machine.places}
    spots = [_spot(target, places.get(target.name)) for target in request.targets]
    nodes = count_numa_nodes()
    cells = Planner(options, engine_context.description, machine.cores, nodes).cells(spots)
    if not cells:
        what = "no interface of this engine suits any target"
        raise UserError(what, "--target", "name interfaces by --interface", EXIT_BAD_INPUT)
    text = f"{format_volume(options.volume)} for each rank, but at most {MOST_TRANSFERS} transfers"
    notes = [note for spot in spots for note in notes_on(spot, options, engine_context.description)]
    return PreparedCells(
        request, options, machine, cells, with_kinds, text, _lines(spots, options, nodes), notes
    ).checked()


def _spot(target: Target, place: Place | None) -> Spot:
    folder = target_folder(target)
    dax = folder is not None and is_dax(folder)
    node = place.device.numa_node if place is not None and place.device is not None else None
    return Spot(target, bool(place and place.is_memory), dax, direct_at(target), node)


def count_numa_nodes() -> int:
    """Return the NUMA nodes of this machine that have CPUs; 1 where the kernel lists none."""
    from ullage.system.hardware import read_numa

    return max(1, sum(1 for node in read_numa() if node.cpus))


def _lines(spots: Sequence[Spot], options: PmemOptions, nodes: int) -> list[str]:
    files = (
        "Each rank has a file of its own, which it writes and then reads. A write ends when its data is as durable as "
        "its interface makes it."
    )
    return [
        files,
        *(f"Target {spot.target.name}: {spot.nature}." for spot in spots),
        *(_numa_line(spot, options, nodes) for spot in spots),
    ]


def _numa_line(spot: Spot, options: PmemOptions, nodes: int) -> str:
    where = f"NUMA path at {spot.target.name}"
    if paths := numa_paths_of(spot, options, nodes):
        return f"{where}: {', '.join(paths)}."
    return f"{where}: not available: {why_not_path('remote', spot, nodes)}."


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``. Rows name their interface, the region of a rank and, where it was chosen, the NUMA path."""
    options, launches = read_options(PmemOptions, request), launches_of(result)
    measured = join(launches)
    placed = with_placement(told_rows(launches, context, _tell), measured)
    rows = with_ceilings(placed, request.targets, options.machine)
    said = findings_of(sound_rows(rows), options, context.level, context.settable)
    found = [*said, *persistence_findings(_granted(measured)), *failures_of(launches, context.level, rows)]
    return SuiteSummary(rows, found)


def _tell(row: Row, source: Source) -> Mapping[str, Scalar]:
    known = source.workload
    params: dict[str, Scalar] = {
        **usual(row, "access", "ranks", "nodes", "block_bytes"),
        "region_bytes": count_of(known, "block_bytes", 1 << 20) * count_of(known, "segments", 1),
        "interface": interface_of(source.case.backend, source.case.backend_parameters),
    }
    path = str(known.get(NUMA_PATH, NOT_ASKED))
    return params if path == NOT_ASKED else {**params, NUMA_PATH: path}


def _granted(measured: Iterable[Measured]) -> dict[tuple[str, str], tuple[str, dict[str, str]]]:
    """Return the file system and what was granted to the writes of each target and interface, as last recorded."""
    found: dict[tuple[str, str], tuple[str, dict[str, str]]] = {}
    for item in measured:
        if item.phase.access == "write":
            interface = interface_of(item.case.backend, item.case.backend_parameters)
            found[item.case.target, interface] = (item.phase.file_system, item.phase.hints_granted)
    return found
