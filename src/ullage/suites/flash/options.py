# SPDX-License-Identifier: Apache-2.0
"""The options of flash, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import (
    BindOptions,
    QuickOnCommandLine,
    RankAxisOptions,
    RunOptions,
    cores_of_nodes,
)
from ullage.runs.options.kinds import CountAxis, Names
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import BackendParameterOptions
from ullage.suites.flash.formula import FILES

FORMATS: Final = ("raw", "hdf5")
ACCESSES: Final = ("independent", "collective")
METRICS: Final = (
    "bandwidth",
    "flash_bandwidth",
    "phase_time",
    "open_time",
    "metadata_time",
    "unknowns_time",
    "sync_time",
    "close_time",
    "latency_p50",
    "latency_max",
)


class FlashOptions(BackendParameterOptions, QuickOnCommandLine, BindOptions, RankAxisOptions, RunOptions):
    """``blocks``: 0 as the original. Words of ``files``, ``formats`` and ``transfers`` are as typed."""

    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Write the files at this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="the number of usable cores"),
        "time_s": Change(usual="5m", quick="30s"),
        "quick": Change("Take a first look in 30 s: the checkpoint alone, with blocks of 8 cells."),
    }

    files: Annotated[
        list[str],
        Field(min_length=1),
        Names(sorted_=False),
        Option(
            "Write these files: checkpoint, plot-centred (values at the centres of cells), plot-corner.",
            name="--file",
            usual="checkpoint,plot-centred,plot-corner",
            quick="checkpoint",
            sets=("file",),
        ),
    ]
    cells: Annotated[
        list[Annotated[int, Field(ge=1, le=512)]],
        Field(min_length=1),
        CountAxis(),
        Option("Give a block this many cells in each direction.", usual="8,16", quick="8", sets=("cells",)),
    ]
    blocks: Annotated[
        int,
        Field(ge=0),
        Option("Give each rank this many blocks.", unsaid="80 + (rank mod 3), as the original", sets=("volume",)),
    ] = 0
    formats: Annotated[
        list[str],
        Field(min_length=1),
        Names(sorted_=False),
        Option(
            "Write these formats: raw (arrays behind a header of Ullage, by MPI-IO), hdf5.",
            name="--format",
            usual="raw",
            sets=("format",),
        ),
    ]
    transfers: Annotated[
        list[str],
        Field(min_length=1),
        Names(sorted_=False),
        Option(
            "Transfer the arrays in these ways: independent, collective.",
            name="--access",
            usual="independent,collective",
            sets=("transfers",),
        ),
    ]
    plot_real_bytes: Annotated[
        int,
        Field(ge=4, le=8, multiple_of=4),
        Option("Write the reals of plot files with this many bytes; older versions wrote 8.", name="--plot-reals"),
    ] = 4
    sync: Annotated[bool, Option("Do not sync a file within the time, after its last array.")] = True
    cache: Annotated[
        Literal["none", "drop"],
        Option("Before the restart, drop the file from the page cache (drop), or do nothing (none)."),
    ] = "none"
    metrics: list[str] = list(METRICS)

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in what follows from the machine."""
        settled = dict(said)
        settled.setdefault("ranks", [cores_of_nodes(said)])
        return super().settle(settled)

    @model_validator(mode="after")
    def _known_words(self) -> Self:
        for field, words, known in (
            ("files", self.files, FILES),
            ("formats", self.formats, FORMATS),
            ("transfers", self.transfers, ACCESSES),
        ):
            for word in words:
                if word not in known:
                    raise OptionError(field, f"there is no '{word}'", f"one of {', '.join(known)}", word)
        return self
