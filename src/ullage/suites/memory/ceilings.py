# SPDX-License-Identifier: Apache-2.0
"""What memory and each cache could carry, for every row that tells where its set lies.

Memory: what a machine file declares, which is of bytes on the bus. A kernel with ordinary stores moves more of those
than it names, so its own bytes have a ceiling that is lower by as much as the run counted. Where nothing is declared,
the most that crossed the bus in this run bounds what was done in the same way: the same share of writes on the bus, by
as many threads on the same cores. A cache: the most of the same mix of reads and writes, by as many threads.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.ceilings.declared import memory_ceiling, memory_latency
from ullage.analysis.ceilings.rows import best_reached, with_ceiling
from ullage.model.machine import MachineFile
from ullage.model.summary import Ceiling, Row
from ullage.quantity import plural
from ullage.suites.memory.sizes import MEMORY_LEVEL
from ullage.units import format_bytes

_APPLICATION: Final = "memory_bandwidth"
_BUS: Final = "bus_bandwidth"
_INJECTED: Final = "injected_bandwidth"
_BANDWIDTHS: Final = frozenset({_APPLICATION, _BUS, _INJECTED})
NON_TEMPORAL: Final = "non-temporal"
# What a kernel reads and writes of the bytes that it names.
_NAMED: Final = {
    "read": (1, 0),
    "write": (0, 1),
    "read-write": (1, 1),
    "copy": (1, 1),
    "scale": (1, 1),
    "add": (2, 1),
    "triad": (2, 1),
}
# These store to what they have just read, so that nothing is fetched for it.
_IN_PLACE: Final = frozenset({"read-write"})
# Sizes this near are the same bytes: two medians of the same repetitions.
_ALIKE: Final = 1.001


@dataclass(frozen=True)
class _Rows:
    """All rows of a run; ``on_bus``: of each case what crossed the bus over what the application names."""

    rows: Sequence[Row]
    on_bus: Mapping[str, float]

    def alike(self, row: Row, metric: str) -> list[Row]:
        """Return the rows of ``metric`` that were measured in the same way as ``row``."""
        kind = _kind(row)
        return [other for other in self.rows if other.metric == metric and _kind(other) == kind]


def with_ceilings(rows: Sequence[Row], machine: MachineFile | None) -> list[Row]:
    """Return ``rows`` in their order, with ceiling and share where one is known; flag those above the ceiling."""
    found = _Rows(rows, _on_bus(rows))
    memory, latency = memory_ceiling(machine), memory_latency(machine)
    return [with_ceiling(row, _ceiling(row, found, memory, latency)) for row in rows]


def _on_bus(rows: Iterable[Row]) -> dict[str, float]:
    named = {row.case: row.median for row in rows if row.metric == _APPLICATION and row.median > 0}
    return {row.case: row.median / named[row.case] for row in rows if row.metric == _BUS and row.case in named}


def _ceiling(row: Row, found: _Rows, memory: Ceiling | None, latency: Ceiling | None) -> Ceiling | None:
    level = row.params.get("level")
    if row.params.get("cpu_node") != row.params.get("memory_node") or level is None:
        # Between NUMA nodes their link holds back, of which nothing is known.
        return None
    if row.metric == "access_time":
        return latency if level == MEMORY_LEVEL and row.params.get("chains") == 1 else None
    if row.metric not in _BANDWIDTHS:
        return None
    if level != MEMORY_LEVEL:
        return best_reached(found.alike(row, row.metric), describe)
    of_bus = memory or _most_on_bus(row, found)
    return of_bus if row.metric == _BUS else _of_application(of_bus, found.on_bus.get(row.case, 1.0))


def _most_on_bus(row: Row, found: _Rows) -> Ceiling | None:
    if row.metric == _INJECTED:
        return best_reached(found.alike(row, _INJECTED), describe)
    carried = found.alike(row, _BUS)
    # A peer tells the bytes of an application alone; what it moved on the bus is as much more as ours.
    named = [_scaled_peer(other, found.on_bus.get(other.case, 1.0)) for other in found.alike(row, _APPLICATION)]
    return best_reached([*carried, *named], describe)


def _scaled_peer(row: Row, on_bus: float) -> Row:
    """Return ``row`` in bytes on the bus, its peer too."""
    peer = None if row.peer is None else row.peer.model_copy(update={"median": row.peer.median * on_bus})
    return row.model_copy(update={"metric": _BUS, "median": row.median * on_bus, "peer": peer})


def _of_application(ceiling: Ceiling | None, on_bus: float) -> Ceiling | None:
    """Convert a ceiling of bytes on the bus to bytes that an application names."""
    if ceiling is None or on_bus <= _ALIKE:
        return ceiling
    source = f"{ceiling.source}; {on_bus:.3g} bytes cross the bus for each that the kernel names"
    return Ceiling(value=ceiling.value / on_bus, kind=ceiling.kind, source=source)


def _kind(row: Row) -> Hashable:
    """Return what rows must share to bound each other's bandwidth: level, mix, threads and NUMA nodes."""
    params = row.params
    threads = params.get("threads", params.get("injectors", 1))
    return params.get("level"), write_share(row), threads, params.get("cpu_node"), params.get("memory_node")


def write_share(row: Row) -> float | None:
    """Return the share of writes in the bytes that move; None for a kernel whose mix is not known.

    These are the bytes on the bus for a set in memory, and those that the kernel names for one in a cache.
    """
    if "injection" in row.params:
        return 1.0 if row.word("injection") != "read" else 0.0
    kernel = row.word("kernel")
    if kernel not in _NAMED:
        return None
    reads, writes = _NAMED[kernel]
    fetches = row.params.get("level") == MEMORY_LEVEL and kernel not in _IN_PLACE
    fetched = writes if fetches and row.params.get("stores") != NON_TEMPORAL else 0
    return round(writes / (reads + writes + fetched), 6)


def describe(row: Row) -> str:
    """Describe the row that a ceiling is from."""
    params = row.params
    stores = f", {params['stores']} stores" if "stores" in params else ""
    size = format_bytes(int(params.get("working_set_bytes", 0)))
    what = "bus bytes of " if row.metric == _BUS and params.get("kernel") != "read" else ""
    work = params.get("kernel", params.get("injection", ""))
    return f"{what}{work}{stores}, {plural(int(params.get('threads', params.get('injectors', 1))), 'thread')}, {size}"
