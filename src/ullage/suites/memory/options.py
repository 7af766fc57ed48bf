# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``memory``, and the working sets that the caches and the memory of this machine allow."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from ullage.model.base import Strict
from ullage.model.system import Limits, Memory
from ullage.runs.kernels.options import MEMORY, KernelOptions
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.each_node import EachNodeOptions
from ullage.runs.options.groups import MachineOptions, PeerOptions
from ullage.runs.options.kinds import SizeAxis
from ullage.system.files import ROOT, parse_cpu_list, read_int, read_text
from ullage.system.hardware import usable_cores, usable_cpus
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
        """Return the bytes that so many threads, side by side on a core each, have of this level together."""
        return self.bytes * -(-threads // self.cores)


def read_caches(root: Path = ROOT, cpus: Sequence[int] | None = None) -> list[Cache]:
    """Read the data caches of the first of ``cpus`` (default: the usable ones), innermost first; empty if unknown."""
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
    """Return the bytes of the outermost level that ``threads`` can reach; 0 where no cache is known."""
    return caches[-1].capacity(threads) if caches else 0


def level_of(caches: Sequence[Cache], set_bytes: int, threads: int) -> str:
    """Tell where a set of all ``threads`` together lies: ``L1`` to the last cache, ``DRAM``, or empty in between.

    In between means up to twice the size of the level before, and up to four times that of the last. Without caches the
    answer is empty, too.
    """
    before = 0
    for cache in caches:
        capacity = cache.capacity(threads)
        if set_bytes <= capacity:
            return cache.name if set_bytes >= _CLEAR * before else ""
        before = capacity
    return MEMORY_LEVEL if caches and set_bytes >= BEYOND * before else ""


KIB: Final = 1 << 10
MIB: Final = 1 << 20
# Divisors of all memory and of the control group's limit, and of what is available now.
_SHARE: Final = 4
_SHARE_AVAILABLE: Final = 2
# These are assumed where the kernel says nothing of caches, or of memory.
_ASSUMED_LAST: Final = 64 * MIB
_ASSUMED_MEMORY: Final = 512 * MIB
SMALLEST: Final = 4 * KIB
# In sets of this size page tables and translations have left the caches too.
_CHASED: Final = 256 * MIB
_GRAIN: Final = 64 * KIB


@dataclass(frozen=True, slots=True)
class Sizes:
    """Working sets in bytes. ``beyond``: one of all threads that no cache holds. ``chased``: the same of one thread.

    ``table``: of random updates, a power of two. ``most``: what may be taken. ``is_beyond``: whether ``beyond`` is as
    large as it should be.
    """

    beyond: int
    chased: int
    table: int
    most: int
    is_beyond: bool


def most_bytes(memory: Memory, limits: Limits) -> int:
    """Return the least of a quarter of the memory, a quarter of the control group's limit, and half of what is free."""
    found = [size // _SHARE for size in (memory.total_bytes, limits.memory_bytes) if size]
    found += [memory.available_bytes // _SHARE_AVAILABLE] if memory.available_bytes else []
    return max(MIB, min(found, default=_ASSUMED_MEMORY // _SHARE))


def choose_sizes(caches: Sequence[Cache], threads: int, most: int, *, quick: bool = False) -> Sizes:
    """Choose the sizes for at most ``threads`` at once, which together take no more than ``most`` bytes.

    With ``quick`` they are no larger than needed.
    """
    wanted = BEYOND * (last_bytes(caches, threads) or _ASSUMED_LAST)
    least = 0 if quick else _CHASED
    chased = max(BEYOND * (last_bytes(caches, 1) or _ASSUMED_LAST), least)
    beyond = min(wanted, most) // _GRAIN * _GRAIN
    table = 1 << (min(max(wanted, least), most).bit_length() - 1)
    return Sizes(beyond, min(chased, most) // _GRAIN * _GRAIN, table, most, beyond >= wanted)


def doubling(last: int, step: int = 2) -> list[int]:
    """Return the sizes from 4 KiB on by factor ``step``, up to ``last``, which is always the last one."""
    sizes: list[int] = []
    size = SMALLEST
    while size < last:
        sizes.append(size)
        size *= step
    return [*sizes, last]


def between(sizes: Sequence[int]) -> list[int]:
    """Return the sizes half-way in a doubling row, as the end of a cache shows between two of its sizes."""
    return [3 * size // 2 for size, following in pairwise(sizes) if 3 * size // 2 < following]


LARGEST_BLOCK: Final = 1 << 30
_EXAMPLE: Final = "4K, 1M or 10M"

Bytes = Annotated[int, Field(ge=512, lt=2**53)]


class MemoryOptions(EachNodeOptions, PeerOptions, MachineOptions, KernelOptions):
    """The options of suite ``memory``.

    Sizes in bytes. ``caches`` and ``most`` are what this machine allows, found once, when a run is prepared.

    ``working_sets``: of all threads together in curves of bandwidth, and of one thread in curves of access time; empty:
    4 KiB to four times the last cache.
    """

    at = (MEMORY,)
    changes = {
        "time_s": Change(usual="130s", quick="30s", unsaid=""),
        "quick": Change("Take a first look in 30 s: fewer sizes and threads."),
        "peer": Change("Do not run mbw, sysbench and STREAM for comparison, even if they are installed."),
    }

    blocks: Annotated[
        list[Annotated[int, Field(ge=64, le=LARGEST_BLOCK)]],
        SizeAxis(64, _EXAMPLE),
        Option("Copy blocks of these sizes in order and at random.", name="--block", usual="1K,1M,10M"),
    ]
    working_sets: Annotated[
        list[Bytes],
        SizeAxis(512, _EXAMPLE),
        Option(
            "Use working sets of these sizes, for example 4K:256M:x2.",
            name="--working-set",
            unsaid="4K to four times the last-level cache, doubling",
        ),
    ] = []
    caches: Annotated[list[Cache], Field(description="innermost first")] = []
    most: Annotated[
        int | None, Field(ge=1, description="bytes that all threads take together; null: not yet found")
    ] = None
    nodes: Annotated[list[Annotated[int, Field(ge=0)]], Field(description="NUMA nodes with memory")] = []
    node_threads: Annotated[dict[int, int], Field(description="usable cores of each NUMA node that has some")] = {}
    cpus: Annotated[list[int], Field(description="whose pairs pass a cache line to and fro")] = []
