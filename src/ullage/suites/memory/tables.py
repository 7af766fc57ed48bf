# SPDX-License-Identifier: Apache-2.0
"""The rows of a memory run by the part they belong to, and a table of each: bandwidth, access time, cores, updates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.settings import select
from ullage.grouping import grouped, nested
from ullage.model.summary import Row
from ullage.quantity import DASH, format_quantity, significant
from ullage.reading import child
from ullage.report.contents import Cell, Grid, Heading, number_cell
from ullage.report.data import ReportData
from ullage.report.declared import columns
from ullage.report.grids import (
    Column,
    PhaseLine,
    ceiling_hint,
    ceiling_text,
    grid_of,
    of,
    peer_hint,
    row_lines,
    share_text,
    value_column,
    value_hint,
    value_text,
)
from ullage.suites.memory.options import MEMORY_LEVEL
from ullage.suites.memory.prepare import KERNELS
from ullage.units import format_bytes

SUITE: Final = "memory"
_PAGES: Final = {"small": "small pages", "huge": "huge pages", "default": "pages as they come"}


def size_of(row: Row) -> int:
    """Return the bytes of the row's working set, or 0 where it has none."""
    return row.count("working_set_bytes")


def threads_of(row: Row) -> int:
    """Return how many threads are at work at once; 1 where the row does not say."""
    return row.count("threads", 1)


def streams(rows: Iterable[Row], metric: str = "memory_bandwidth") -> list[Row]:
    """Return the bandwidths of kernels over whole sets; those between NUMA nodes or in chosen pages are left out."""
    return select(rows, metric, block_bytes=None, cpu_node=None, pages=None)


def _chases(rows: Iterable[Row]) -> list[Row]:
    """Return the access times of one thread with nothing beside, by rising set, without those between NUMA nodes."""
    alone = select(rows, "access_time", access="chase", cpu_node=None)
    return sorted((row for row in alone if threads_of(row) == 1), key=size_of)


def single_chases(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the chases of one chain by how their pages lie, which is what a curve of access time is called."""
    order = list(_PAGES)
    singles = [row for row in _chases(rows) if row.params.get("chains") == 1 and row.params.get("pages") in _PAGES]
    singles.sort(key=lambda row: (row.params.get("locality") == "local", order.index(row.word("pages"))))
    return grouped((_pages_words(row), row) for row in singles)


def _pages_words(row: Row) -> str:
    """Say how the pages of a chase lie, such as ``small pages, 256K at a time``."""
    pages = _PAGES[row.word("pages")]
    if row.params.get("locality") != "local":
        return pages
    return f"{pages}, {format_bytes(row.count('locality_bytes'))} at a time"


def cache_lines(data: ReportData) -> Sequence[tuple[str, int]]:
    """Return name and bytes of each data cache that the machine states, innermost first."""
    found = child(data.summary.system, "cpu", "caches").items()
    sizes = [(name.removesuffix("d"), size) for name, size in found if isinstance(size, int) and not name.endswith("i")]
    return sorted(sizes, key=lambda one: one[1])


_WORKLOADS: Final = {"sequential": "RWS", "random": "RWR"}
_LEVEL_KERNELS: Final = ("read", "copy", "triad")
_GIGA: Final = 1e9


def _block_grids(rows: Sequence[Row]) -> list[Grid]:
    order = list(_WORKLOADS)
    found = [row for row in rows if row.metric == "memory_bandwidth" and "block_bytes" in row.params]
    found.sort(key=lambda row: (order.index(row.word("order")), threads_of(row), row.count("block_bytes")))
    return grid_of("copies of blocks", _BLOCK_COLUMNS, row_lines(found))


_BLOCK_COLUMNS: Final = columns(
    Column[PhaseLine]("workload", lambda line: _WORKLOADS.get(line.first.word("order"), ""), is_number=False),
    "threads block_bytes:bytes=block working_set_bytes:bytes=working_set row=ours row:peer row:ceiling",
    "row:share=our_efficiency row:peer_share",
)


def _stream_grids(rows: Sequence[Row]) -> list[Grid]:
    found = streams(rows)
    largest = max(map(size_of, found), default=0)
    by_case = nested((row.case, row.metric, row) for row in [*found, *streams(rows, "bus_bandwidth")])
    found = [row for row in found if size_of(row) == largest and row.word("kernel") in KERNELS]
    found.sort(key=lambda row: (KERNELS.index(row.word("kernel")), row.word("stores") != "ordinary", threads_of(row)))
    title = f"kernels over {format_bytes(largest) if found else ''}"
    return grid_of(title, _STREAM_COLUMNS, [PhaseLine(by_case[row.case]) for row in found])


# A share is of the number beside it: what crossed the bus under what can cross it.
_STREAM_COLUMNS: Final = columns(
    "kernel stores threads memory_bandwidth=application bus_bandwidth=on_the_bus bus_bandwidth:ceiling=ceiling_of_bus",
    "bus_bandwidth:share=share_of_bus memory_bandwidth:peer memory_bandwidth:ratio=ours_to_peer's",
)


@dataclass(frozen=True)
class _Level(PhaseLine):
    """Rows of one level: the best of each kernel with ``count`` threads, or a time of each kind of pages."""

    name: str
    count: int

    @property
    def fastest(self) -> Row:
        return min(self.rows.values(), key=lambda row: row.median)


def _level_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the table of the best that each level gives to each kernel, with ordinary stores."""
    plain = [row for row in streams(rows) if row.word("stores", "ordinary") == "ordinary" and "level" in row.params]
    of_kernels = (row for row in plain if row.word("kernel") in _LEVEL_KERNELS)
    groups = grouped(((row.word("level"), threads_of(row), row.word("kernel")), row) for row in of_kernels)
    best = nested((key[:2], key[2], max(some, key=lambda row: row.median)) for key, some in groups.items())
    # Caches are named L1, L2 ...; memory, the last, begins with another letter.
    ordered = sorted(best.items(), key=lambda item: (not item[0][0].startswith("L"), *item[0]))
    levels = [_Level(by_kernel, name, threads) for (name, threads), by_kernel in ordered]
    return grid_of("the best of each level, ordinary stores", _LEVEL_COLUMNS, levels)


_LEVEL_COLUMNS: Final[tuple[Column[_Level], ...]] = (
    Column("level", lambda line: line.name, is_number=False),
    Column("threads", lambda line: str(line.count)),
    *(
        Column(
            kernel,
            of(kernel, value_text),
            hint=of(kernel, lambda row: f"{format_bytes(size_of(row))}; {value_hint(row)}", ""),
        )
        for kernel in _LEVEL_KERNELS
    ),
)


def _update_grids(rows: Sequence[Row]) -> list[Grid]:
    lines = sorted((row for row in rows if row.metric == "update_rate"), key=threads_of)
    return grid_of("random updates", _UPDATE_COLUMNS, row_lines(lines))


def _peer_rate(line: PhaseLine) -> str:
    return DASH if (peer := line.first.peer) is None else significant(peer.median / _GIGA)


_UPDATE_COLUMNS: Final = columns(
    "threads table_bytes:bytes=table",
    Column[PhaseLine](
        "GUPS", lambda line: significant(line.first.median / _GIGA), hint=lambda line: value_hint(line.first)
    ),
    Column[PhaseLine]("peer's GUPS", _peer_rate, hint=lambda line: peer_hint(line.first)),
)


def time_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the table of access times in a set that fits each cache with room to spare, and in memory's largest set."""
    curves = single_chases(rows)
    in_levels = [row for curve in curves.values() for row in curve if "level" in row.params]
    sizes = grouped((row.word("level"), size_of(row)) for row in in_levels)
    lines: list[_Level] = []
    for name, found in sorted(sizes.items(), key=lambda item: min(item[1])):
        ordered = sorted(set(found))
        size = ordered[-1] if name == MEMORY_LEVEL or len(ordered) == 1 else ordered[-2]
        times = {words: row for words, curve in curves.items() for row in curve if size_of(row) == size}
        lines.append(_Level(times, name, size))
    shown: list[Column[_Level]] = [
        Column("level", lambda line: line.name, is_number=False),
        Column("working set", lambda line: format_bytes(line.count)),
        *(_time_column(words) for words in curves),
        Column("declared", lambda line: ceiling_text(line.fastest), hint=lambda line: ceiling_hint(line.fastest)),
        Column("efficiency", lambda line: share_text(line.fastest)),
    ]
    return grid_of("access time of each level", shown, lines)


def _time_column(words: str) -> Column[_Level]:
    return value_column(words, lambda line: line.rows.get(words))


def _parallel_grids(rows: Sequence[Row]) -> list[Grid]:
    found = [
        row for row in _chases(rows) if row.params.get("pages") == "huge" and row.params.get("locality") != "local"
    ]
    several = [row for row in found if row.count("chains", 1) > 1]
    if not several:
        return []
    size = size_of(several[-1])
    lines = sorted((row for row in found if size_of(row) == size), key=lambda row: row.count("chains", 1))
    single = lines[0].median
    shown = columns(
        "chains row=a_load_each",
        Column[PhaseLine]("loads to one chain's", lambda line: significant(single / line.first.median)),
    )
    return grid_of(f"chases at once in one thread, {format_bytes(size)}", shown, row_lines(lines))


@dataclass(frozen=True)
class Load:
    """A chase and what other threads moved beside it; ``rate`` is None where they moved nothing."""

    time: Row
    rate: Row | None

    @property
    def bytes_per_s(self) -> float:
        """0 without a rate."""
        return 0.0 if self.rate is None else self.rate.median


def loads(rows: Sequence[Row]) -> list[Load]:
    """Return each chase under load with its injected bandwidth."""
    rates = {row.case: row for row in rows if row.metric == "injected_bandwidth"}
    found = select(rows, "access_time", access="loaded-latency")
    return [Load(row, rates.get(row.case)) for row in found]


def _loaded_grids(rows: Sequence[Row]) -> list[Grid]:
    lines = sorted(loads(rows), key=lambda load: (load.time.word("injection"), load.bytes_per_s))
    return grid_of("access time under load", _LOAD_COLUMNS, lines)


_LOAD_COLUMNS: Final[tuple[Column[Load], ...]] = (
    Column("injected", lambda load: load.time.word("injection"), is_number=False),
    Column("by threads", lambda load: load.time.word("injectors")),
    Column("pauses", lambda load: load.time.word("delay")),
    Column("bandwidth", lambda load: format_quantity(load.bytes_per_s, "B/s"), hint=lambda load: value_hint(load.rate)),
    value_column("access time", lambda load: load.time),
)


def _core_grids(rows: Sequence[Row]) -> list[Grid]:
    trips = [row for row in rows if row.metric == "core_round_trip"]
    pairs = {(row.count("cpu_a"), row.count("cpu_b")): row for row in trips}
    cpus = sorted({cpu for pair in pairs for cpu in pair})
    if not cpus:
        return []

    def cell(row: Row | None) -> Cell:
        return number_cell("" if row is None else value_text(row), hint=value_hint(row))

    heads = [Heading("CPU"), *(Heading(str(cpu), is_number=True) for cpu in cpus)]
    lines = [[Cell(str(a)), *(cell(pairs.get((min(a, b), max(a, b)))) for b in cpus)] for a in cpus]
    return [Grid("a line from core to core and back", heads, lines)]


def _node_grids(rows: Sequence[Row]) -> list[Grid]:
    between = (row for row in rows if "cpu_node" in row.params)
    found = nested(((row.count("cpu_node"), row.count("memory_node", -1)), row.metric, row) for row in between)
    return grid_of("NUMA nodes", _NODE_COLUMNS, [PhaseLine(found[place]) for place in sorted(found)])


def _node(name: str, without: int | str) -> Callable[[PhaseLine], str]:
    return lambda line: str(line.first.params.get(name, without))


_NODE_COLUMNS: Final = columns(
    Column[PhaseLine]("cores of node", _node("cpu_node", "")),
    Column[PhaseLine]("memory of node", _node("memory_node", -1)),
    Column[PhaseLine]("threads", of("memory_bandwidth", lambda row: str(threads_of(row)))),
    "memory_bandwidth=read access_time=access_time",
)


def grids(rows: Sequence[Row]) -> list[Grid]:
    """Return all tables, in the order of the report."""
    makers = (
        _block_grids,
        _stream_grids,
        _level_grids,
        time_grids,
        _parallel_grids,
        _loaded_grids,
        _core_grids,
        _node_grids,
    )
    return [grid for make in (*makers, _update_grids) for grid in make(rows)]
