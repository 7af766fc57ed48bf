# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``tile``, as they stand in request.json, and the tiles of a data set that they ask for.

Dimensions stand in the order x, y, z; x is contiguous in the file. Ranks have the tiles row by row: x runs fastest.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self, TypeAlias, cast

from pydantic import Field, model_validator

from ullage.errors import UserError
from ullage.model.base import Strict
from ullage.model.plan import Parameters
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.engine import Values
from ullage.runs.options.groups import StorageOptions, cores_of_nodes
from ullage.runs.options.kinds import Converted, ConvertedList
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import BackendParameterOptions

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
        return {**sizes, "element_bytes": self.element_bytes, "header_bytes": self.header_bytes, "frames": self.frames}


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


Calls: TypeAlias = Literal["independent", "collective"]


DEFAULT: Final = "default"
# ROMIO's two ways to move a strided part: by the ranks together, or by each with more than it needs.
KNOWN: Final[Mapping[str, Mapping[str, str]]] = {
    DEFAULT: {},
    "two-phase": {"romio_cb_write": "enable", "romio_cb_read": "enable"},
    "sieving": {
        "romio_cb_write": "disable",
        "romio_cb_read": "disable",
        "romio_ds_write": "enable",
        "romio_ds_read": "enable",
    },
    "plain": {
        "romio_cb_write": "disable",
        "romio_cb_read": "disable",
        "romio_ds_write": "disable",
        "romio_ds_read": "disable",
    },
}
_FORM: Final = f"write {', '.join(KNOWN)}, or NAME:KEY=VALUE,KEY=VALUE"
_LONGEST: Final = 64


class TileHints(Strict):
    """Hints that are given together when the file is opened. They are typed as ``NAME:KEY=VALUE,KEY=VALUE``."""

    name: Annotated[str, Field(min_length=1, max_length=_LONGEST)]
    hints: dict[str, str] = {}


def read_hints(texts: Sequence[str]) -> list[TileHints]:
    """Read sets of hints; raise ``UserError`` for what is none and where two sets have one name."""
    sets = [_read(text) for text in texts]
    names = [one.name for one in sets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"two sets of hints are called '{twice}'", twice, "give each set a name of its own")
    return sets


def _read(text: str) -> TileHints:
    name, colon, rest = text.partition(":")
    if not colon and name in KNOWN:
        return TileHints(name=name, hints=dict(KNOWN[name]))
    if not colon or not name.strip() or not name.isprintable() or len(name) > _LONGEST or name in KNOWN:
        raise UserError("is not a set of hints", text, _FORM)
    hints: dict[str, str] = {}
    for word in rest.split(","):
        key, joined, value = word.partition("=")
        if not key.strip() or not joined or not value.strip():
            raise UserError(f"'{word}' is not a hint", text, _FORM)
        hints[key.strip()] = value.strip()
    return TileHints(name=name, hints=hints)


# The display wall of the original's authors: projectors that overlap.
_DISPLAY: Final[Mapping[str, object]] = {
    "tiles": [3, 2],
    "tile": [1024, 768],
    "overlap": [270, 128],
    "element_bytes": 3,
}
# What 2 x 2 ranks were seen to write in the original, to the byte.
_LARGE: Final[Mapping[str, object]] = {"tiles": [2, 2], "tile": [1024, 1024], "overlap": [16, 8], "element_bytes": 16}
PRESETS: Final[Mapping[str, Mapping[str, object]]] = {"display": _DISPLAY, "large": _LARGE}


class TileOptions(BackendParameterOptions, StorageOptions):
    """Sizes along x, y and, where there is one, z, in elements. ``tiles``: null for a grid of all ranks."""

    workload = "tile"
    metrics = "bandwidth frame_rate tile_bandwidth open_time move_time sync_time close_time latency_p50 latency_p99"
    changes = {
        "targets": Change("Keep the file at this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="the number of tiles, or that of usable cores"),
        "time_s": Change(usual="2m", quick="20s"),
        "quick": Change("Take a first look in 20 s: 2 frames."),
    }

    preset: Annotated[
        Literal["display", "large"] | None,
        Option(
            "Take the sizes of a known case. display has 3x2 tiles of 1024x768 pixels of 3 bytes, overlap 270x128. "
            "large has 2x2 tiles of 1024x1024 elements of 16 bytes, overlap 16x8."
        ),
    ] = None
    tiles: Annotated[
        list[Annotated[int, Field(ge=1)]] | None,
        Field(min_length=2, max_length=3),
        Converted(read_sizes, metavar="XxY[xZ]"),
        Option("Cut the data set into so many tiles, one for each rank.", unsaid="a grid of all ranks"),
    ] = None
    tile: Annotated[
        list[Annotated[int, Field(ge=1, lt=2**31)]],
        Field(min_length=2, max_length=3),
        Converted(read_sizes, metavar="XxY[xZ]"),
        Option("Give a tile so many elements along each direction.", unsaid="1024x1024, or that of --preset"),
    ] = [1024, 1024]
    overlap: Annotated[
        list[Annotated[int, Field(ge=0, lt=2**31)]],
        Field(min_length=1, max_length=3),
        Converted(read_overlap, metavar="X[xY[xZ]]"),
        Option("Let neighbours have so many elements in common.", unsaid="0, or that of --preset"),
    ] = [0]
    element_bytes: Annotated[int, OfEngine(name="--element", unsaid="3 bytes, or that of --preset")] = 3
    header_bytes: Annotated[int, OfEngine(name="--header")] = 0
    frames: Annotated[int, OfEngine(quick="2", sets=("volume",))] = 8
    calls: Annotated[list[Calls], OfEngine(usual="independent,collective")]
    hint_sets: Annotated[
        list[TileHints],
        ConvertedList(read_hints, metavar="SET"),
        Option(
            "Give these MPI-IO hints: default (none), two-phase, sieving, plain, or NAME:KEY=VALUE,KEY=VALUE. Repeat "
            "the option to compare sets.",
            name="--hints",
            sets=("hint_set",),
        ),
    ] = [TileHints(name="default")]
    access: Annotated[
        list[Literal["write", "read"]],
        Option("Measure write,read, or write alone. Reads need what was written.", usual="write,read"),
    ]
    sync: Annotated[bool, OfEngine(help="Do not sync the file within the time of a write.")] = True
    cache: Annotated[str, OfEngine()] = "none"
    verify: Annotated[str, OfEngine()] = "full"
    buffers: Annotated[int, OfEngine()] = 32 << 20
    backend: Annotated[
        str,
        Option("Use this backend: mpiio (views of the file) or hdf5 (an array).", unsaid="mpiio, or the target's own"),
    ] = "mpiio"

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the sizes of a preset, and as many ranks as there are tiles."""
        settled = {**PRESETS.get(str(said.get("preset")), {}), **said}
        tiles = cast("list[int] | None", settled.get("tiles"))
        settled.setdefault("ranks", [cores_of_nodes(said) if tiles is None else math.prod(tiles)])
        return super().settle(settled)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        dimensions = self.dimensions
        for name in ("tiles", "tile"):
            sizes = cast("list[int] | None", getattr(self, name))
            if sizes is not None and len(sizes) < dimensions and len(sizes) != 2:
                raise OptionError(name, "sizes of another number of dimensions", "write two sizes, or three in both")
        tiling = self.tiling(max(self.ranks))
        wide = next((axis for axis in range(3) if 0 < tiling.tile[axis] <= tiling.overlap[axis]), None)
        if wide is not None:
            what = f"an overlap of {tiling.overlap[wide]} elements in a tile of {tiling.tile[wide]}"
            raise OptionError("overlap", what, "write fewer elements than a tile has")
        least = 0 if self.tiles is None else math.prod(self.tiles)
        if least > min(self.ranks):
            what = f"{text_of(cast('list[int]', self.tiles))} tiles need {least} ranks"
            raise OptionError("ranks", what, f"write --ranks {least}, or fewer --tiles")
        if self.access == ["read"]:
            raise OptionError("access", "reads need what was written", "write write,read")
        return self

    @property
    def dimensions(self) -> int:
        """2 or 3."""
        return max(len(self.tiles or []), len(self.tile), 2)

    def tiling(self, ranks: int) -> Tiling:
        """Return the tiles of a case with so many ranks."""
        tiles = self.tiles or list(grid_of(ranks, self.dimensions))
        overlap = self.overlap * 3 if len(self.overlap) == 1 else self.overlap
        sizes = three(tiles, 1), three(self.tile, 1), three(overlap[: self.dimensions], 0)
        return Tiling(*sizes, self.element_bytes, self.header_bytes, self.frames)
