# SPDX-License-Identifier: Apache-2.0
"""How much data a case moves: each rank's share, and a volume that fits into time and space."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.units import format_volume

SMALLEST_BYTES: Final = 16 << 20
LARGEST_BYTES: Final = 4 << 30


def share_bytes(volume_bytes: int, ranks: int, block_bytes: int, segments: int = 1, *, weak: bool = False) -> int:
    """Bytes of one rank in one segment: its part of the volume in whole blocks, rounded down, one block at least."""
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
        """By what the largest case is larger than the volume."""
        return max(self.ranks) if self.weak else 1

    @property
    def unit(self) -> int:
        """Multiples of it are divided without a rest by all ranks, segments and blocks."""
        ranks = 1 if self.weak else math.lcm(*self.ranks)
        return ranks * self.segments * math.lcm(*self.blocks)


def choose_volume(shape: Shape, seconds_of: Callable[[int], float], seconds: float) -> int:
    """The largest volume whose minimum repetitions take at most ``seconds`` by ``seconds_of``, within the bounds.

    ``seconds_of`` rises with its volume. Where even the smallest volume takes longer, that is the one. ``UserError``
    (exit code 3) when the space is too small for it.
    """
    smallest = max(shape.smallest, shape.least // shape.widest)
    if shape.smallest * shape.widest > shape.most_bytes:
        needed = format_volume(shape.smallest * shape.widest)
        what = f"a block for every rank needs {needed}, and {format_volume(shape.most_bytes)} may be taken"
        raise UserError(what, "--space", "fewer ranks, smaller blocks or another target", EXIT_ENVIRONMENT)
    largest = min(max(smallest, shape.largest // shape.widest), shape.most_bytes // shape.widest)
    unit = shape.unit if shape.unit <= max(2 * smallest, largest // 4) and shape.unit <= largest else max(shape.blocks)
    high = largest // unit
    low = min(-(-smallest // unit), high)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if seconds_of(middle * unit) <= seconds else (low, middle - 1)
    return low * unit
