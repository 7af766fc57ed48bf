# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``sar``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import (
    BindOptions,
    QuickOnCommandLine,
    RankAxisOptions,
    RunOptions,
    cores_of_nodes,
)
from ullage.runs.options.kinds import Names
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import Backends
from ullage.suites.sar.shape import scaled

ImageLayout: TypeAlias = Literal["files", "containers"]

LAYOUTS: Final[tuple[ImageLayout, ...]] = ("files", "containers")
METRICS: Final = (
    "bandwidth",
    "image_rate",
    "file_rate",
    "phase_time",
    "latency_p50",
    "latency_p95",
    "latency_p99",
    "latency_max",
    "image_open",
    "image_transfer",
    "subimage_read",
    "detection_write",
    "image_close",
    "sync_time",
    "cpu_time",
)
_QUICK: Final[Mapping[str, object]] = {"scale": 0.25, "grid": 3, "depth": 2}


class SarOptions(QuickOnCommandLine, BindOptions, RankAxisOptions, RunOptions):
    """``scale`` multiplies the sides of images and raw data."""

    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Keep the images at this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="the number of usable cores"),
        "time_s": Change(usual="5m", quick="30s"),
        "quick": Change("Take a first look in 30 s: scale 0.25, 3 x 3 locations with 2 images each."),
    }

    scale: Annotated[
        float,
        Field(gt=0, le=14),
        Option(
            "Multiply the sides of images (1144 x 756 pixels) and raw data (1144 x 1072 samples) by this.",
            unsaid="1, or 0.25 with --quick",
            sets=("scale", "image_bytes", "volume"),
        ),
    ] = 1.0
    grid: Annotated[
        int,
        Field(ge=1, le=4096),
        Option(
            "Keep images at this many locations along each side of the grid.",
            unsaid="4, or 3 with --quick",
            sets=("grid",),
        ),
    ] = 4
    depth: Annotated[
        int,
        Field(ge=2),
        Option("Keep this many images of each location.", unsaid="4, or 2 with --quick", sets=("depth",)),
    ] = 4
    layouts: Annotated[
        list[ImageLayout],
        Field(min_length=1),
        Names(LAYOUTS),
        Option(
            "Keep images in these layouts: files, one an image in the directory of its location, or containers, one a "
            "location.",
            name="--layout",
            usual="files,containers",
            sets=("layout",),
        ),
    ]
    raw: Annotated[
        Literal["shared", "own"],
        Option("Let all ranks read the same raw files (shared), or make some for each rank (own).", sets=("raw",)),
    ] = "shared"
    raw_files: Annotated[
        int,
        Field(ge=1),
        Option("Make this many raw files, for each rank with --raw own. K1 reads them in turns.", sets=("raw_files",)),
    ] = 1
    templates: Annotated[int, Field(ge=1), Option("Make this many templates of 4 KiB.")] = 40
    subimages: Annotated[int, Field(ge=1), Option("Take this many sub-images from each pair of images.")] = 8
    side: Annotated[
        int, Field(ge=1), Option("Let a sub-image have this many pixels along each side.", name="--subimage-side")
    ] = 64
    sync: Annotated[
        Literal["none", "close", "fsync"],
        Option(
            "Sync nothing (none), everything at the end of each kernel that writes (close), or also each file and "
            "appended image (fsync).",
            sets=("sync",),
        ),
    ] = "close"
    read_back: Annotated[
        Literal["other-node", "own"],
        Option("Read what ranks of another node wrote, or the next rank on one node (other-node), or own files (own)."),
    ] = "other-node"
    cache: Annotated[
        Literal["none", "drop"],
        Option("Before K1, K3 and K4, drop their files from the page cache (drop), or do nothing (none)."),
    ] = "drop"
    verify: Annotated[
        Literal["none", "full"] | None,
        Option("Check all data that is read, or none of it.", unsaid="full, if the backend holds data"),
    ] = None
    backends: Backends = []
    metrics: list[str] = list(METRICS)

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the ranks by the cores of this machine, and the sizes of a first look."""
        usual: dict[str, object] = {"ranks": [cores_of_nodes(said)]}
        if said.get("quick"):
            usual.update(_QUICK)
        return super().settle({**usual, **said})

    @model_validator(mode="after")
    def _holds_subimages(self) -> Self:
        least = scaled(self.scale)["columns"]
        if self.side > least:
            what = f"an image of {least} columns has no room for sub-images of {self.side} pixels"
            raise OptionError("scale", what, "choose a larger --scale or a smaller --subimage-side")
        return self
