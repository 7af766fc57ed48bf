# SPDX-License-Identifier: Apache-2.0
"""Caches between a core and memory: what the kernel says of them, and in which of them a working set lies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from ullage.model.base import Strict
from ullage.system.cpu import usable_cores, usable_cpus
from ullage.system.files import ROOT, parse_cpu_list, read_int, read_text
from ullage.units import parse_size

MEMORY_LEVEL: Final = "DRAM"
# A set this much larger than all caches finds little of itself in them (STREAM's own rule).
BEYOND: Final = 4
# Just above a level's size, a part of the set still lies there.
_CLEAR: Final = 2


class Cache(Strict):
    """One level: ``bytes`` of one cache, which ``cores`` cores share."""

    level: Annotated[int, Field(ge=1)]
    bytes: Annotated[int, Field(ge=1)]
    cores: Annotated[int, Field(ge=1)]

    @property
    def name(self) -> str:
        """``L2``."""
        return f"L{self.level}"

    def capacity(self, threads: int) -> int:
        """Bytes that so many threads, each on a core of its own and side by side, have of this level together."""
        return self.bytes * -(-threads // self.cores)


def read_caches(root: Path = ROOT, cpus: Sequence[int] | None = None) -> list[Cache]:
    """Data caches of the first of ``cpus`` (default: the usable ones), innermost first; empty where nothing says."""
    first = next(iter(usable_cpus() if cpus is None else cpus), 0)
    found: dict[int, Cache] = {}
    for index in sorted((root / f"sys/devices/system/cpu/cpu{first}/cache").glob("index[0-9]*")):
        level, kind, size = read_int(index / "level"), read_text(index / "type"), read_text(index / "size")
        if level is None or level < 1 or kind not in ("Data", "Unified") or size is None:
            continue
        shared = parse_cpu_list(read_text(index / "shared_cpu_list"))
        cores = usable_cores(root, shared) or len(shared) or 1
        if size.rstrip("KMG").isdigit() and parse_size(size) > 0:
            found[level] = Cache(level=level, bytes=parse_size(size), cores=cores)
    return [found[level] for level in sorted(found)]


def last_bytes(caches: Sequence[Cache], threads: int) -> int:
    """Bytes of the outermost level that ``threads`` can reach; 0 where no cache is known."""
    return caches[-1].capacity(threads) if caches else 0


def level_of(caches: Sequence[Cache], set_bytes: int, threads: int) -> str:
    """Where a set of all ``threads`` together lies: ``L1`` to the last cache, ``DRAM``, or nothing in between.

    In between: up to twice the size of the level before, and up to four times that of the last. Empty without caches.
    """
    before = 0
    for cache in caches:
        capacity = cache.capacity(threads)
        if set_bytes <= capacity:
            return cache.name if set_bytes >= _CLEAR * before else ""
        before = capacity
    return MEMORY_LEVEL if caches and set_bytes >= BEYOND * before else ""
