# SPDX-License-Identifier: Apache-2.0
"""How much data a case moves: each rank's share, a volume that fits into time and space, and whether it has room."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.grouping import grouped
from ullage.model.plan import Limits
from ullage.model.system import Memory, Place
from ullage.quantity import plural
from ullage.runs.cells.planning import Cell
from ullage.runs.options.declared import settable_by
from ullage.runs.options.groups import RunOptions
from ullage.runs.room import NO_LIMIT, disks_of, most_bytes, most_files
from ullage.units import format_volume

SMALLEST_BYTES: Final = 16 << 20
LARGEST_BYTES: Final = 4 << 30
# A volume that we choose ourselves takes at most this share of the free memory, since other processes need the rest.
_MEMORY_SHARE: Final = 0.25


def share_bytes(volume_bytes: int, ranks: int, block_bytes: int, segments: int = 1, *, weak: bool = False) -> int:
    """Return the bytes of one rank in one segment: its part of the volume, which with ``weak`` is that of each rank.

    They are whole blocks, rounded down, one block at least.
    """
    of_a_rank = volume_bytes if weak else volume_bytes // ranks
    return max(1, of_a_rank // segments // block_bytes) * block_bytes


@dataclass(frozen=True)
class Shape:
    """What the volume is divided by. ``most_bytes``: space that a case may take at the tightest target.

    ``least`` and ``largest``: bytes of a case between which a volume is chosen, where room and blocks allow it.
    """

    ranks: Sequence[int]
    blocks: Sequence[int]
    segments: int
    weak: bool
    most_bytes: int
    least: int = SMALLEST_BYTES
    largest: int = LARGEST_BYTES

    @property
    def smallest(self) -> int:
        """Every rank gets one block of every size."""
        ranks = 1 if self.weak else max(self.ranks)
        return ranks * max(self.blocks) * self.segments

    @property
    def widest(self) -> int:
        """How many times larger than the volume the largest case is."""
        return max(self.ranks) if self.weak else 1

    @property
    def unit(self) -> int:
        """Multiples of it are divided without a rest by all ranks, segments and blocks."""
        ranks = 1 if self.weak else math.lcm(*self.ranks)
        return ranks * self.segments * math.lcm(*self.blocks)


def choose_volume(shape: Shape, seconds_of: Callable[[int], float], seconds: float) -> int:
    """Return the largest volume within the bounds whose minimum repetitions take at most ``seconds`` by ``seconds_of``.

    ``seconds_of`` rises with its volume. Where even the smallest volume takes longer, that is the one. Raise
    ``UserError`` (exit code 3) when the space is too small for it.
    """
    smallest = max(shape.smallest, shape.least // shape.widest)
    if shape.smallest * shape.widest > shape.most_bytes:
        needed = format_volume(shape.smallest * shape.widest)
        what = f"a block for every rank needs {needed}, but only {format_volume(shape.most_bytes)} may be used"
        raise UserError(what, "--space", "fewer ranks, smaller blocks or another target", EXIT_ENVIRONMENT)
    largest = min(max(smallest, shape.largest // shape.widest), shape.most_bytes // shape.widest)
    unit = shape.unit if shape.unit <= max(2 * smallest, largest // 4) and shape.unit <= largest else max(shape.blocks)
    high = largest // unit
    low = min(-(-smallest // unit), high)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if seconds_of(middle * unit) <= seconds else (low, middle - 1)
    return low * unit


def most_to_choose(places: Iterable[Place], limits: Limits, memory: Memory, nodes: int | None = 1) -> int:
    """Return the bytes of the largest case that a volume chosen by us may make at the tightest of ``places``.

    ``nodes``: how many each case is on at least, None when not known; see ``room.most_bytes``.
    """
    tightest = NO_LIMIT
    for place in places:
        most = most_bytes(place, limits, memory, nodes)
        if place.is_memory and memory.available_bytes is not None:
            most = min(most, disks_of(place, nodes) * int(memory.available_bytes * _MEMORY_SHARE))
        tightest = min(tightest, most)
    return tightest


def needed_bytes(cells: Iterable[Cell], target: str, *, keep: bool) -> int:
    """Return the most bytes that lie at ``target`` at a time: the largest case, or all of a launch with ``keep``.

    Cases with further targets take the room that there is, and count nothing.
    """
    own = (cell for cell in cells if cell.target.name == target and not cell.spill)
    by_layout = grouped((cell.layout, cell.dataset_bytes) for cell in own)
    return max((sum(sizes) if keep else max(sizes) for sizes in by_layout.values()), default=0)


def smaller(options: RunOptions) -> str:
    """Return ``a smaller --volume``: the option of the suite that makes its cases smaller."""
    return f"a smaller {settable_by(type(options)).by_parameter[options.sized_by]}"


def _what_fits(cells: Iterable[Cell], most: int, options: RunOptions) -> str:
    """Advise a smaller volume where one block for every rank has room, else another place.

    Where blocks shrink, too, only the suite knows how small they may be.
    """
    if options.shrinks_blocks:
        return f"give more --space, {smaller(options)}, or another target"
    least = max(cell.layout.ranks * cell.block_bytes for cell in cells)
    if least <= most:
        return f"{smaller(options)} fits"
    return f"not even {smaller(options)} fits: give more --space, or another target"


def check_room(
    cells: Sequence[Cell], places: Iterable[Place], limits: Limits, memory: Memory, options: RunOptions
) -> None:
    """Raise ``UserError`` (exit code 3) when a target has not the room that ``limits`` want to be left."""
    for place in places:
        for nodes, group in groupby(sorted(cells, key=_nodes), key=_nodes):
            alike = list(group)
            needed = needed_bytes(alike, place.target, keep=options.keep)
            most = most_bytes(place, limits, memory, nodes)
            if needed > most:
                each = f" on each of {nodes} nodes" if disks_of(place, nodes) > 1 else ""
                may = f"only {format_volume(most)} of {_free(place)} free{each} may be used"
                where = f"target '{place.target}' ({place.path})"
                what = f"needs {format_volume(needed)}, but {may}"
                raise UserError(what, where, _what_fits(alike, most, options), EXIT_ENVIRONMENT)


def check_files(cells: Iterable[Cell], places: Sequence[Place], limits: Limits, right: str) -> None:
    """Raise ``UserError`` (exit code 3) when a case makes more files than a target may have; ``right``: what helps."""
    for cell in cells:
        for place in places:
            most = most_files(place, limits, _nodes(cell))
            if cell.target.name == place.target and cell.files > most:
                what = f"needs {plural(cell.files, 'file')}, but only {most:,} may be made"
                where = f"target '{place.target}' ({place.path})"
                raise UserError(what, where, right, EXIT_ENVIRONMENT)


def check_room_together(
    cells: Sequence[Cell], places: Sequence[Place], limits: Limits, memory: Memory, options: RunOptions
) -> None:
    """Raise ``UserError`` (exit code 3) when the targets of a case have not the room for it even together."""
    for cell in cells:
        names = [target.name for target in (cell.target, *cell.spill)]
        own = [place for place in places if place.target in names]
        most = sum(most_bytes(place, limits, memory, _nodes(cell)) for place in own)
        if cell.spill and len(own) == len(names) and cell.dataset_bytes > most:
            needed = format_volume(cell.dataset_bytes)
            what = f"need {needed}, but only {format_volume(most)} may be used together"
            right = _what_fits([cell], most, options)
            raise UserError(what, f"targets {', '.join(names)}", right, EXIT_ENVIRONMENT)


def _nodes(cell: Cell) -> int:
    return cell.layout.nodes or 1


def _free(place: Place) -> str:
    return "an unknown space" if place.free_bytes is None else format_volume(place.free_bytes)
