# SPDX-License-Identifier: Apache-2.0
"""How much of a target a run may take: what the engine will check, known before anything is started."""

from dataclasses import dataclass
from typing import Final

from ullage.model.plan import Limits
from ullage.model.system import Memory, Place

_UNKNOWN: Final = 1 << 62
# Free space shrinks by what else goes on at the target, and file systems need some for themselves.
_SHARE: Final = 0.9
_FILE_SYSTEM_BLOCK: Final = 4096


@dataclass(frozen=True)
class Room:
    """Bytes and files that all datasets together may take; ``file_bytes``: what a small file takes at least."""

    bytes: int
    files: int
    file_bytes: int = _FILE_SYSTEM_BLOCK


def room_at(place: Place, limits: Limits, memory: Memory) -> Room:
    """By the engine's own rule, less a margin."""
    inodes = _UNKNOWN if place.free_inodes is None else int(place.free_inodes * limits.space_fraction * _SHARE)
    return Room(int(_bytes(place, limits, memory) * _SHARE), inodes, place.block_bytes or _FILE_SYSTEM_BLOCK)


def _bytes(place: Place, limits: Limits, memory: Memory) -> int:
    free = place.free_bytes
    if free is None:
        return _UNKNOWN if limits.space_bytes is None else limits.space_bytes
    if place.is_memory and memory.available_bytes is not None:
        free = min(free, memory.available_bytes)
    allowed = max(0, min(int(free * limits.space_fraction), free - limits.reserve_bytes))
    return allowed if limits.space_bytes is None else min(allowed, limits.space_bytes)
