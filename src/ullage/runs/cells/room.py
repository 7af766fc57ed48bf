# SPDX-License-Identifier: Apache-2.0
"""Whether the targets have room for cells: what the engine checks too, but before anything is started."""

from collections.abc import Iterable, Sequence
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Limits
from ullage.model.system import Memory, Place
from ullage.runs.cells.planning import Cell
from ullage.runs.room import NO_LIMIT, most_bytes
from ullage.units import format_volume

# Share of the free memory for a volume that we choose ourselves: the rest of the machine goes on living.
_MEMORY_SHARE: Final = 0.25


def most_to_choose(places: Iterable[Place], limits: Limits, memory: Memory) -> int:
    """The largest case that a volume chosen by us may make at the tightest of ``places``."""
    tightest = NO_LIMIT
    for place in places:
        most = most_bytes(place, limits, memory)
        if place.is_memory and memory.available_bytes is not None:
            most = min(most, int(memory.available_bytes * _MEMORY_SHARE))
        tightest = min(tightest, most)
    return tightest


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
