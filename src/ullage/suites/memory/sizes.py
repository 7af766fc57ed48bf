# SPDX-License-Identifier: Apache-2.0
"""How large working sets are: from what fits the innermost cache to what no cache holds, within what may be taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ullage.model.system import Limits, Memory
from ullage.suites.memory.caches import BEYOND, Cache, last_bytes

KIB: Final = 1 << 10
MIB: Final = 1 << 20
# Of all memory, of the control group's limit, and of what is available now.
_SHARE: Final = 4
_SHARE_AVAILABLE: Final = 2
# Where the kernel says nothing of caches, or of memory.
_ASSUMED_LAST: Final = 64 * MIB
_ASSUMED_MEMORY: Final = 512 * MIB
SMALLEST: Final = 4 * KIB
# Where page tables and translations have left the caches too.
_CHASED: Final = 256 * MIB
_GRAIN: Final = 64 * KIB


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes. ``beyond``: a set of all threads together that no cache holds. ``chased``: the same of one that chases.

    ``table``: of random updates, a power of two. ``most``: what may be taken. ``is_beyond``: whether ``beyond`` is as
    large as it should be.
    """

    beyond: int
    chased: int
    table: int
    most: int
    is_beyond: bool


def most_bytes(memory: Memory, limits: Limits) -> int:
    """A quarter of the memory and of the control group's limit, and half of what is available at most."""
    found = [size // _SHARE for size in (memory.total_bytes, limits.memory_bytes) if size]
    found += [memory.available_bytes // _SHARE_AVAILABLE] if memory.available_bytes else []
    return max(MIB, min(found, default=_ASSUMED_MEMORY // _SHARE))


def choose_sizes(caches: Sequence[Cache], threads: int, most: int, *, quick: bool = False) -> Sizes:
    """For at most ``threads`` at once, which together take no more than ``most``; ``quick``: no larger than needed."""
    wanted = BEYOND * (last_bytes(caches, threads) or _ASSUMED_LAST)
    least = 0 if quick else _CHASED
    chased = max(BEYOND * (last_bytes(caches, 1) or _ASSUMED_LAST), least)
    beyond = min(wanted, most) // _GRAIN * _GRAIN
    table = 1 << (min(max(wanted, least), most).bit_length() - 1)
    return Sizes(beyond, min(chased, most) // _GRAIN * _GRAIN, table, most, beyond >= wanted)


def doubling(last: int, step: int = 2) -> list[int]:
    """4 KiB and on by ``step`` up to ``last``, which is always the last one."""
    sizes: list[int] = []
    size = SMALLEST
    while size < last:
        sizes.append(size)
        size *= step
    return [*sizes, last]


def between(sizes: Sequence[int]) -> list[int]:
    """Half-way sizes of a doubling row: where a cache ends shows between two of its sizes."""
    return [3 * size // 2 for size, following in pairwise(sizes) if 3 * size // 2 < following]
