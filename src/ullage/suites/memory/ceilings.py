# SPDX-License-Identifier: Apache-2.0
"""What memory and each cache could carry, for every row that tells where its set lies.

Memory: what a machine file declares, else the most that crossed the bus in this run with a set that no cache holds. It
is that of the device: one thread is held against the same bound as all. A cache that each core has for itself bounds
the cores that are used: the most at the same number of threads. A cache that cores share is a device like memory.
"""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.ceilings.declared import memory_ceiling, memory_latency
from ullage.analysis.ceilings.rows import best_reached, with_ceiling
from ullage.model.machine import MachineFile
from ullage.model.summary import Ceiling, Row
from ullage.quantity import plural
from ullage.suites.memory.sizes import MEMORY_LEVEL, Cache
from ullage.units import format_bytes

_BANDWIDTHS: Final = frozenset({"memory_bandwidth", "bus_bandwidth", "injected_bandwidth"})
# The two that compete for what the bus has carried: a peer tells application bytes alone, which are no more than those.
_CARRIED: Final = frozenset({"memory_bandwidth", "bus_bandwidth"})


def with_ceilings(rows: Sequence[Row], machine: MachineFile | None, caches: Sequence[Cache]) -> list[Row]:
    """``rows`` in their order, with ceiling and share where one is known; more than it can be is flagged."""
    carried = [row for row in rows if row.metric in _CARRIED and row.params.get("level") == MEMORY_LEVEL]
    memory = memory_ceiling(machine) or best_reached([row for row in carried if _is_local(row)], _describe)
    latency = memory_latency(machine)
    return [with_ceiling(row, _ceiling(row, rows, memory, latency, caches)) for row in rows]


def _ceiling(
    row: Row, rows: Sequence[Row], memory: Ceiling | None, latency: Ceiling | None, caches: Sequence[Cache]
) -> Ceiling | None:
    level = row.params.get("level")
    if not _is_local(row) or level is None:
        # Between NUMA nodes their link holds back, of which nothing is known.
        return None
    if row.metric == "access_time":
        return latency if level == MEMORY_LEVEL and row.params.get("chains") == 1 else None
    if row.metric not in _BANDWIDTHS:
        return None
    return memory if level == MEMORY_LEVEL else best_reached(_in_cache(rows, row, caches), _describe)


def _in_cache(rows: Sequence[Row], row: Row, caches: Sequence[Cache]) -> list[Row]:
    """Those of the same level; of a level that each core has for itself, of as many threads."""
    level = row.params["level"]
    shared = any(cache.name == level and cache.cores > 1 for cache in caches)
    found = [other for other in rows if other.metric == "memory_bandwidth" and other.params.get("level") == level]
    return [other for other in found if shared or other.params.get("threads") == row.params.get("threads")]


def _is_local(row: Row) -> bool:
    return row.params.get("cpu_node") == row.params.get("memory_node")


def _describe(row: Row) -> str:
    stores = f", {row.params['stores']} stores" if "stores" in row.params else ""
    size = format_bytes(int(row.params.get("working_set_bytes", 0)))
    what = "bus bytes of " if row.metric == "bus_bandwidth" else ""
    return (
        f"{what}{row.params.get('kernel', '')}{stores}, {plural(int(row.params.get('threads', 1)), 'thread')}, {size}"
    )
