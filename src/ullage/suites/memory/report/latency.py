# SPDX-License-Identifier: Apache-2.0
"""Tables of access time: each level by kind of pages, loads at once, under load, between cores, between NUMA nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import DASH, format_quantity, significant
from ullage.report.contents import Grid, Heading
from ullage.report.grids import (
    Column,
    ceiling_hint,
    ceiling_text,
    grid_of,
    share_text,
    value_column,
    value_hint,
    value_text,
)
from ullage.report.table import Cell, number_cell
from ullage.suites.memory.report.rows import MEMORY_LEVEL, chases, is_between_nodes, single_chases, size_of, threads_of
from ullage.units import format_bytes


@dataclass(frozen=True)
class _Level:
    """Access times of one level by how pages lie, all of one set."""

    name: str
    size: int
    times: Mapping[str, Row]

    @property
    def best(self) -> Row:
        return min(self.times.values(), key=lambda row: row.median)


def level_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the table of access times in a set that fits each cache with room to spare, and in memory's largest set."""
    curves = single_chases(rows)
    sizes: dict[str, set[int]] = {}
    for row in (row for curve in curves.values() for row in curve):
        if "level" in row.params:
            sizes.setdefault(str(row.params["level"]), set()).add(size_of(row))
    lines: list[_Level] = []
    for name, found in sorted(sizes.items(), key=lambda item: min(item[1])):
        ordered = sorted(found)
        size = ordered[-1] if name == MEMORY_LEVEL or len(ordered) == 1 else ordered[-2]
        times = {words: row for words, curve in curves.items() for row in curve if size_of(row) == size}
        lines.append(_Level(name, size, times))
    columns: list[Column[_Level]] = [
        Column("level", lambda line: line.name, is_number=False),
        Column("working set", lambda line: format_bytes(line.size)),
        *(_time_column(words) for words in curves),
        Column("declared", lambda line: ceiling_text(line.best), hint=lambda line: ceiling_hint(line.best)),
        Column("efficiency", lambda line: share_text(line.best)),
    ]
    return grid_of("access time of each level", columns, lines)


def _time_column(words: str) -> Column[_Level]:
    return value_column(words, lambda line: line.times.get(words))


def parallel_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the table of several chases in one thread, over the largest set."""
    found = [row for row in chases(rows) if row.params.get("pages") == "huge" and row.params.get("locality") != "local"]
    several = [row for row in found if int(row.params.get("chains", 1)) > 1]
    if not several:
        return []
    size = size_of(several[-1])
    lines = sorted((row for row in found if size_of(row) == size), key=lambda row: int(row.params.get("chains", 1)))
    single = lines[0].median
    columns: tuple[Column[Row], ...] = (
        Column("chains", lambda row: str(row.params.get("chains", 1))),
        Column("a load each", value_text, hint=value_hint),
        Column("loads to one chain's", lambda row: significant(single / row.median)),
    )
    return grid_of(f"chases at once in one thread, {format_bytes(size)}", columns, lines)


@dataclass(frozen=True)
class Load:
    """A chase and what other threads moved beside it; ``rate`` is None where they moved nothing."""

    time: Row
    rate: Row | None

    @property
    def bytes_per_s(self) -> float:
        """0 without a rate."""
        return 0.0 if self.rate is None else self.rate.median


def loaded_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the table of access time against injected bandwidth, by rising load."""
    lines = sorted(loads(rows), key=lambda load: (str(load.time.params["injection"]), load.bytes_per_s))
    columns: tuple[Column[Load], ...] = (
        Column("injected", lambda load: str(load.time.params["injection"]), is_number=False),
        Column("by threads", lambda load: str(load.time.params.get("injectors", ""))),
        Column("pauses", lambda load: str(load.time.params.get("delay", ""))),
        Column(
            "bandwidth", lambda load: format_quantity(load.bytes_per_s, "B/s"), hint=lambda load: value_hint(load.rate)
        ),
        value_column("access time", lambda load: load.time),
    )
    return grid_of("access time under load", columns, lines)


def loads(rows: Sequence[Row]) -> list[Load]:
    """Return each chase under load with its injected bandwidth."""
    rates = {row.case: row for row in rows if row.metric == "injected_bandwidth"}
    found = [row for row in rows if row.metric == "access_time" and row.params.get("access") == "loaded-latency"]
    return [Load(row, rates.get(row.case)) for row in found]


def core_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the matrix of round trips of a line between every two CPUs."""
    pairs = {
        (int(row.params["cpu_a"]), int(row.params["cpu_b"])): row for row in rows if row.metric == "core_round_trip"
    }
    cpus = sorted({cpu for pair in pairs for cpu in pair})
    if not cpus:
        return []
    heads = [Heading("CPU"), *(Heading(str(cpu), is_number=True) for cpu in cpus)]
    lines = [[Cell(str(a)), *(_pair_cell(pairs.get((min(a, b), max(a, b)))) for b in cpus)] for a in cpus]
    return [Grid("a line from core to core and back", heads, lines)]


def _pair_cell(row: Row | None) -> Cell:
    return number_cell("" if row is None else value_text(row), hint=value_hint(row))


def node_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the table of bandwidth and access time from every NUMA node's cores to every node's memory."""
    found: dict[tuple[int, int], dict[str, Row]] = {}
    for row in filter(is_between_nodes, rows):
        place = (int(row.params["cpu_node"]), int(row.params.get("memory_node", -1)))
        found.setdefault(place, {})[row.metric] = row
    columns: tuple[Column[tuple[tuple[int, int], dict[str, Row]]], ...] = (
        Column("cores of node", lambda line: str(line[0][0])),
        Column("memory of node", lambda line: str(line[0][1])),
        Column("threads", lambda line: _threads(line[1].get("memory_bandwidth"))),
        value_column("read", lambda line: line[1].get("memory_bandwidth")),
        value_column("access time", lambda line: line[1].get("access_time")),
    )
    return grid_of("NUMA nodes", columns, sorted(found.items(), key=lambda item: item[0]))


def _threads(row: Row | None) -> str:
    return DASH if row is None else str(threads_of(row))


GRIDS: Final = (level_grids, parallel_grids, loaded_grids, core_grids, node_grids)
