# SPDX-License-Identifier: Apache-2.0
"""Tiles of a dense data set: the sizes of MPI Tile I/O, as they are typed and as they follow from each other. Pure.

Dimensions stand in the order x, y, z; x is contiguous in the file. Ranks have the tiles row by row: x runs fastest.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.errors import UserError
from ullage.model.plan import Parameters
from ullage.runs.options.engine import Values

AXES: Final = ("x", "y", "z")
_COUNTS: Final = re.compile(r"\d{1,10}(?:x\d{1,10}){1,2}", re.ASCII)
_OVERLAPS: Final = re.compile(r"\d{1,10}(?:[x/]\d{1,10}){0,2}", re.ASCII)


def three(sizes: Iterable[int], rest: int) -> tuple[int, int, int]:
    """Return sizes along x, y and z, of which those that are not stated are ``rest``."""
    x, y, z = [*sizes, rest, rest][:3]
    return x, y, z


@dataclass(frozen=True)
class Tiling:
    """Sizes in elements. ``overlap``: what neighbours have in common."""

    tiles: tuple[int, int, int]
    tile: tuple[int, int, int]
    overlap: tuple[int, int, int]
    element_bytes: int
    header_bytes: int = 0
    frames: int = 1

    @property
    def count(self) -> int:
        """Tiles, of which each takes a rank."""
        return math.prod(self.tiles)

    @property
    def data_set(self) -> tuple[int, int, int]:
        """Elements of a frame."""
        every = zip(self.tiles, self.tile, self.overlap, strict=True)
        return three((n * size - (n - 1) * over for n, size, over in every), 1)

    @property
    def tile_bytes(self) -> int:
        """Bytes that a rank moves for a frame."""
        return math.prod(self.tile) * self.element_bytes

    @property
    def frame_bytes(self) -> int:
        """Bytes of a frame in the file, in which what overlaps lies once."""
        return math.prod(self.data_set) * self.element_bytes

    @property
    def file_bytes(self) -> int:
        """Size of the file."""
        return self.header_bytes + self.frames * self.frame_bytes

    @property
    def has_depth(self) -> bool:
        """Whether there is a third dimension."""
        return self.tiles[2] > 1 or self.tile[2] > 1

    def place_of(self, rank: int) -> tuple[int, int, int]:
        """Return x, y and z of the tile of ``rank``, in tiles."""
        return rank % self.tiles[0], rank // self.tiles[0] % self.tiles[1], rank // self.tiles[0] // self.tiles[1]

    def begin_of(self, rank: int) -> tuple[int, int, int]:
        """Return the first element of the tile of ``rank`` along each axis."""
        every = zip(self.place_of(rank), self.tile, self.overlap, strict=True)
        return three((at * (size - over) for at, size, over in every), 0)

    @property
    def parameters(self) -> Parameters:
        """Those of the engine's workload."""
        sizes: Parameters = {}
        for name, values in (("tiles", self.tiles), ("tile", self.tile), ("overlap", self.overlap)):
            sizes.update({f"{name}_{axis}": number for axis, number in zip(AXES, values, strict=True)})
        return {
            **sizes,
            "element_bytes": self.element_bytes,
            "header_bytes": self.header_bytes,
            "frames": self.frames,
        }


def tiling_of(values: Values) -> Tiling:
    """Return the tiling of a case."""
    tiles, tile, overlap = (
        three((values.count(f"{name}_{axis}") for axis in AXES), 1) for name in ("tiles", "tile", "overlap")
    )
    return Tiling(tiles, tile, overlap, *map(values.count, ("element_bytes", "header_bytes", "frames")))


def grid_of(ranks: int, dimensions: int = 2) -> tuple[int, int, int]:
    """Return ``ranks`` as tiles along x, y and z, as near to a square or a cube as whole numbers allow; x the most."""
    sizes: list[int] = []
    rest = ranks
    for left in range(dimensions, 1, -1):
        root = round(rest ** (1 / left))
        size = next(n for n in range(root if root**left <= rest else root - 1, 0, -1) if rest % n == 0)
        sizes.append(size)
        rest //= size
    found = sorted([*sizes, rest], reverse=True)
    return found[0], found[1], found[2] if dimensions > 2 else 1


def read_sizes(text: str) -> list[int]:
    """Read ``3x2`` or ``4x2x2``; raise ``UserError`` for another text or a 0."""
    numbers = [int(word) for word in text.split("x")] if _COUNTS.fullmatch(text) else []
    if not numbers or 0 in numbers:
        raise UserError("is not two or three sizes", text, "write X x Y without blanks, for example 3x2, or 4x2x2")
    return numbers


def read_overlap(text: str) -> list[int]:
    """Read ``270x128``, ``270/128``, ``8x8x8`` or one number for all directions; raise ``UserError`` for others."""
    if not _OVERLAPS.fullmatch(text):
        raise UserError("is not an overlap", text, "write elements along x and y, for example 270x128, or 0")
    return [int(word) for word in re.split("[x/]", text)]


def text_of(sizes: Sequence[int]) -> str:
    """Write sizes as people type them; a third of 1 is left out."""
    shown = sizes[:2] if len(sizes) > 2 and sizes[2] <= 1 else sizes
    return "x".join(str(size) for size in shown)
