# SPDX-License-Identifier: Apache-2.0
"""Whether the targets can be used at all and have room: what the engine checks too, but before anything is started."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Limits, Target
from ullage.model.system import Memory, Place
from ullage.runs.cells.planning import Cell
from ullage.units import format_volume
from ullage.uri import target_path, target_scheme

# Of the free memory, for a volume that we choose ourselves: the rest of the machine goes on living.
_MEMORY_SHARE: Final = 0.25
NO_LIMIT: Final = 1 << 62


def most_bytes(place: Place, limits: Limits, memory: Memory) -> int:
    """What the engine lets a run take at ``place``; ``NO_LIMIT`` where the free space is not known."""
    free = place.free_bytes
    if free is None:
        return NO_LIMIT if limits.space_bytes is None else limits.space_bytes
    if place.is_memory and memory.available_bytes is not None:
        free = min(free, memory.available_bytes)
    allowed = min(int(free * limits.space_fraction), max(0, free - limits.reserve_bytes))
    return allowed if limits.space_bytes is None else min(allowed, limits.space_bytes)


def most_to_choose(places: Iterable[Place], limits: Limits, memory: Memory) -> int:
    """The largest case that a volume chosen by us may make at the tightest of ``places``."""
    tightest = NO_LIMIT
    for place in places:
        most = most_bytes(place, limits, memory)
        if place.is_memory and memory.available_bytes is not None:
            most = min(most, int(memory.available_bytes * _MEMORY_SHARE))
        tightest = min(tightest, most)
    return tightest


def check_paths(targets: Iterable[Target]) -> None:
    """``UserError`` for a target without a place for files."""
    for target in targets:
        if target_path(target) is None:
            what = f"target '{target.name}' has no place for files ({target_scheme(target)}:)"
            raise UserError(what, "--target", "write NAME=PATH", EXIT_BAD_INPUT)


def check_places(places: Iterable[Place]) -> None:
    """``UserError`` (exit code 3) for a target that is missing, no folder, or not to be written to."""
    for place in places:
        where, right = f"target '{place.target}' ({place.path})", "name a folder that you may write to"
        if not place.exists:
            raise UserError("does not exist", where, "make the folder, or correct the path", EXIT_ENVIRONMENT)
        if not Path(place.path).is_dir():
            raise UserError("is no folder", where, right, EXIT_ENVIRONMENT)
        if not os.access(place.path, os.W_OK | os.X_OK):
            read_only = "ro" in place.options
            what = "lies on a file system that is mounted read-only" if read_only else "cannot be written to"
            raise UserError(what, where, right, EXIT_ENVIRONMENT)


def needed_bytes(cells: Iterable[Cell], target: str, *, keep: bool) -> int:
    """Most that lies at ``target`` at a time: the largest case, or, when datasets are kept, all cases of a launch."""
    by_layout: dict[object, list[int]] = {}
    for cell in cells:
        if cell.target.name == target:
            by_layout.setdefault(cell.layout, []).append(cell.dataset_bytes)
    return max((sum(sizes) if keep else max(sizes) for sizes in by_layout.values()), default=0)


def check_room(cells: Sequence[Cell], places: Iterable[Place], limits: Limits, memory: Memory, *, keep: bool) -> None:
    """``UserError`` (exit code 3) when a target has not the room that ``limits`` want to be left."""
    for place in places:
        needed, most = needed_bytes(cells, place.target, keep=keep), most_bytes(place, limits, memory)
        if needed > most:
            what = f"needs {format_volume(needed)}, may take {format_volume(most)} of {_free(place)} free"
            raise UserError(
                what, f"target '{place.target}' ({place.path})", "a smaller --volume fits", EXIT_ENVIRONMENT
            )


def _free(place: Place) -> str:
    return "an unknown space" if place.free_bytes is None else format_volume(place.free_bytes)
