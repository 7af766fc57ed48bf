# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``sar``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.groups import StorageOptions
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import Backends
from ullage.suites.sar.shape import scaled


class SarOptions(StorageOptions):
    """``scale`` multiplies the sides of images and raw data."""

    workload = "sar"
    metrics = (
        "bandwidth image_rate file_rate phase_time latency_p50 latency_p95 latency_p99 latency_max image_open "
        "image_transfer subimage_read detection_write image_close sync_time cpu_time"
    )
    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Keep the images at this place. Repeat the option to compare several places."),
        "time_s": Change(usual="5m", quick="30s"),
        "quick": Change("Take a first look in 30 s: scale 0.25, 3 x 3 locations with 2 images each."),
    }

    scale: Annotated[
        float,
        Field(gt=0, le=14),
        Option(
            "Multiply the sides of images (1144 x 756 pixels) and raw data (1144 x 1072 samples) by this.",
            quick="0.25",
            sets=("scale", "image_bytes", "volume"),
        ),
    ] = 1.0
    grid: Annotated[int, OfEngine(quick="3")] = 4
    depth: Annotated[int, OfEngine(quick="2")] = 4
    layouts: Annotated[list[str], OfEngine("layout", usual="files,containers")]
    raw: Annotated[str, OfEngine()] = "shared"
    raw_files: Annotated[int, OfEngine()] = 1
    templates: Annotated[int, OfEngine()] = 40
    subimages: Annotated[int, OfEngine()] = 8
    side: Annotated[int, OfEngine("subimage_side")] = 64
    sync: Annotated[str, OfEngine()] = "close"
    read_back: Annotated[
        Literal["other-node", "own"],
        OfEngine(
            help="In K1, K3 and K4, read what ranks of another node wrote, or the next rank on one node (other-node), "
            "or own files (own)."
        ),
    ] = "other-node"
    cache: Annotated[str, OfEngine()] = "drop"
    verify: Annotated[str | None, OfEngine(unsaid="full, if the backend holds data")] = None
    backends: Backends = []

    @model_validator(mode="after")
    def _holds_subimages(self) -> Self:
        least = scaled(self.scale)["columns"]
        if self.side > least:
            what = f"an image of {least} columns has no room for sub-images of {self.side} pixels"
            raise OptionError("scale", what, "choose a larger --scale or a smaller --subimage-side")
        return self
