# SPDX-License-Identifier: Apache-2.0
"""The options of flash, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.groups import StorageOptions
from ullage.runs.options.settings import BackendParameterOptions


class FlashOptions(BackendParameterOptions, StorageOptions):
    """``blocks``: 0 as the original."""

    workload = "flash"
    metrics = (
        "bandwidth flash_bandwidth phase_time open_time metadata_time unknowns_time sync_time close_time latency_p50 "
        "latency_max"
    )
    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Write the files at this place. Repeat the option to compare several places."),
        "time_s": Change(usual="5m", quick="30s"),
        "quick": Change("Take a first look in 30 s: the checkpoint alone, with blocks of 8 cells."),
    }

    files: Annotated[list[str], OfEngine("file", usual="checkpoint,plot-centred,plot-corner", quick="checkpoint")]
    cells: Annotated[list[int], OfEngine(usual="8,16", quick="8")]
    blocks: Annotated[int, OfEngine(sets=("volume",))] = 0
    formats: Annotated[
        list[Literal["raw", "hdf5"]],
        Option(
            "Write these formats: raw (arrays behind a header of Ullage, by MPI-IO), hdf5.",
            name="--format",
            usual="raw",
        ),
    ]
    transfers: Annotated[
        list[Literal["independent", "collective"]],
        Option(
            "Transfer the arrays in these ways.", name="--access", usual="independent,collective", sets=("transfers",)
        ),
    ]
    plot_real_bytes: Annotated[int, Field(multiple_of=4), OfEngine(name="--plot-reals")] = 4
    sync: Annotated[bool, OfEngine(help="Do not sync a file within the time, after its last array.")] = True
    cache: Annotated[str, OfEngine()] = "none"
