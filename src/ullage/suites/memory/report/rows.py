# SPDX-License-Identifier: Apache-2.0
"""The rows of a memory run by the part they belong to. Pure; by their parameters alone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from ullage.model.summary import Row
from ullage.report.data import ReportData
from ullage.units import format_bytes

SUITE: Final = "memory"
MEMORY_LEVEL: Final = "DRAM"
KERNELS: Final = ("read", "write", "read-write", "copy", "scale", "add", "triad")
_PAGES: Final = {"small": "small pages", "huge": "huge pages", "default": "pages as they come"}


def own_rows(data: ReportData) -> list[Row]:
    """Return the rows of suite ``memory``."""
    return data.rows_of(SUITE)


def size_of(row: Row) -> int:
    """Return the bytes of the row's working set, or 0 where it has none."""
    return int(row.params.get("working_set_bytes", 0))


def threads_of(row: Row) -> int:
    """Return how many threads are at work at once; 1 where the row does not say."""
    return int(row.params.get("threads", 1))


def is_between_nodes(row: Row) -> bool:
    """Tell whether the row was measured with cores and memory of named NUMA nodes."""
    return "cpu_node" in row.params


def blocks(rows: Iterable[Row]) -> list[Row]:
    """Return the bandwidths of copies of blocks."""
    return [row for row in rows if row.metric == "memory_bandwidth" and "block_bytes" in row.params]


def streams(rows: Iterable[Row]) -> list[Row]:
    """Return the bandwidths of kernels over whole sets; those between NUMA nodes are left out."""
    return [
        row
        for row in rows
        if row.metric == "memory_bandwidth" and "block_bytes" not in row.params and not is_between_nodes(row)
    ]


def largest_streams(rows: Iterable[Row]) -> list[Row]:
    """Return the bandwidths of kernels over the largest set."""
    found = streams(rows)
    largest = max(map(size_of, found), default=0)
    return [row for row in found if size_of(row) == largest]


def bus_rows(rows: Iterable[Row]) -> dict[str, Row]:
    """Return the bandwidths in bytes that crossed the bus, by case."""
    return {row.case: row for row in rows if row.metric == "bus_bandwidth"}


def chases(rows: Iterable[Row]) -> list[Row]:
    """Return the access times of one thread with nothing beside, by rising set, without those between NUMA nodes."""
    found = [
        row
        for row in rows
        if row.metric == "access_time"
        and row.params.get("access") == "chase"
        and threads_of(row) == 1
        and not is_between_nodes(row)
    ]
    return sorted(found, key=size_of)


def single_chases(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the chases of one chain by how their pages lie, which is what a curve of access time is called."""
    found: dict[str, list[Row]] = {}
    order = list(_PAGES)
    singles = [row for row in chases(rows) if row.params.get("chains") == 1 and row.params.get("pages") in _PAGES]
    for row in sorted(
        singles, key=lambda row: (row.params.get("locality") == "local", order.index(str(row.params["pages"])))
    ):
        found.setdefault(pages_words(row), []).append(row)
    return found


def pages_words(row: Row) -> str:
    """Say how the pages of a chase lie, such as ``small pages, 256K at a time``."""
    pages = _PAGES[str(row.params["pages"])]
    if row.params.get("locality") != "local":
        return pages
    return f"{pages}, {format_bytes(int(row.params.get('locality_bytes', 0)))} at a time"


def cache_lines(data: ReportData) -> Sequence[tuple[str, int]]:
    """Return name and bytes of each data cache that the machine states, innermost first."""
    cpu = data.summary.system.get("cpu")
    caches = cast("Mapping[str, object]", cpu).get("caches") if isinstance(cpu, Mapping) else None
    if not isinstance(caches, Mapping):
        return []
    found = cast("Mapping[str, object]", caches).items()
    sizes = [(name.removesuffix("d"), size) for name, size in found if isinstance(size, int) and not name.endswith("i")]
    return sorted(sizes, key=lambda one: one[1])
