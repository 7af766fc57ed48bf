# SPDX-License-Identifier: Apache-2.0
"""Sizes of a pipeline of images, as the engine's workload ``sar`` has them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from ullage.model.plan import Parameters
from ullage.parameters import count_of

WORKLOAD: Final = "sar"
SDG: Final = "sdg"
KERNELS: Final = ("k1", "k2", "k3", "k4")
PHASES: Final = (SDG, *KERNELS)
# What the kernels do, as nouns of sentences and tables.
NOUNS: Final[Mapping[str, str]] = {
    SDG: "SDG, make the input",
    "k1": "K1, read raw data",
    "k2": "K2, store images",
    "k3": "K3, read pairs of images",
    "k4": "K4, read sub-images",
}
# The same behind the name of a kernel in a sentence.
WORK: Final[Mapping[str, str]] = {name: said.replace(", ", " (") + ")" for name, said in NOUNS.items()}

_PIXEL_BYTES: Final = 4
_SAMPLE_BYTES: Final = 8
_RECORD_BYTES: Final = 64
_BLOCK: Final = 4096  # of most file systems
# Images at scale 1 have the size of the public VSIPL++ sample of kernel 1.
_ROWS, _COLUMNS, _RAW_COLUMNS = 1144, 756, 1072


@dataclass(frozen=True)
class SarShape:
    """Names are those of the engine's parameters; the values unsaid are its defaults."""

    grid: int = 4
    depth: int = 2
    rows: int = _ROWS
    columns: int = _COLUMNS
    raw_columns: int = _RAW_COLUMNS
    raw_files: int = 1
    templates: int = 40
    template_bytes: int = 4096
    subimages: int = 8
    subimage_side: int = 64
    raw_is_shared: bool = True
    in_containers: bool = False

    @property
    def locations(self) -> int:
        """All places on the grid."""
        return self.grid * self.grid

    @property
    def images(self) -> int:
        """All images of all locations."""
        return self.locations * self.depth

    @property
    def image_bytes(self) -> int:
        """Bytes of an image of 4-byte pixels."""
        return self.rows * self.columns * _PIXEL_BYTES

    @property
    def raw_bytes(self) -> int:
        """Bytes of the raw data of an image, of complex samples of 8 bytes."""
        return self.rows * self.raw_columns * _SAMPLE_BYTES

    @property
    def group_bytes(self) -> int:
        """Bytes of the sub-images of a pair."""
        return self.subimages * self.subimage_side**2 * _PIXEL_BYTES

    def _raws(self, ranks: int) -> int:
        return self.raw_files * (1 if self.raw_is_shared else ranks)

    def files(self, ranks: int) -> int:
        """Return the number of files: raw data, templates, images, and detections and records of each rank."""
        images = self.locations if self.in_containers else self.images
        return self._raws(ranks) + self.templates + images + 2 * ranks

    def bytes_kept(self, ranks: int) -> int:
        """Return what lies at the target at the end of a repetition, in whole blocks of 4 KiB, as the engine has it."""
        pairs = -(-self.locations // ranks) * (self.depth - 1)
        container = self.locations * _whole(self.depth * self.image_bytes)
        images = container if self.in_containers else self.images * _whole(self.image_bytes)
        found = ranks * (_whole(pairs * self.group_bytes) + _whole(pairs * self.subimages * _RECORD_BYTES))
        raws, templates = self._raws(ranks) * _whole(self.raw_bytes), self.templates * _whole(self.template_bytes)
        return raws + templates + images + found


def _whole(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def scaled(scale: float) -> Mapping[str, int]:
    """Return the sides of images and raw data at ``scale``: each is multiplied, so that bytes grow with its square."""
    sides = {"rows": _ROWS, "columns": _COLUMNS, "raw_columns": _RAW_COLUMNS}
    return {name: max(1, round(side * scale)) for name, side in sides.items()}


def shape_of(parameters: Parameters) -> SarShape:
    """Return the shape of a case with these parameters of the workload."""
    usual = SarShape()
    counts = [one.name for one in fields(usual) if one.type is int]
    return SarShape(
        **{name: count_of(parameters, name, getattr(usual, name)) for name in counts},
        raw_is_shared=parameters.get("raw", "shared") == "shared",
        in_containers=parameters.get("layout") == "containers",
    )
