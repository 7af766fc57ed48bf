# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``overlap``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import (
    BindOptions,
    MachineOptions,
    QuickOnCommandLine,
    RankAxisOptions,
    RunOptions,
    cores_of_nodes,
)
from ullage.runs.options.kinds import CountAxis, Names, Size, SizeAxis
from ullage.runs.options.model import OptionError

Method: TypeAlias = Literal["threads", "nonblocking"]
Access: TypeAlias = Literal["write", "read"]

METHODS: Final[tuple[Method, ...]] = ("threads", "nonblocking")
ACCESSES: Final[tuple[Access, ...]] = ("write", "read")
METRICS: Final = (
    "overlap_share",
    "compute_slowdown",
    "overlap_gain",
    "start_share",
    "batch_io_time",
    "batch_compute_time",
    "batch_both_time",
    "batch_blocking_time",
    "io_alone_rate",
)
_PAGE: Final = 4096


class OverlapOptions(QuickOnCommandLine, BindOptions, RankAxisOptions, MachineOptions, RunOptions):
    """The options of suite ``overlap``. ``stretch_bytes``: what a rank moves between two readings of the clock."""

    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Keep the files at this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="half of the usable cores, so that each rank has a second core for its helpers"),
        "time_s": Change(usual="10m", quick="30s"),
        "quick": Change("Take a first look in 30 s: two sizes, two depths, 4M in a stretch."),
    }

    sizes: Annotated[
        list[Annotated[int, Field(ge=8, le=1 << 30)]],
        Field(min_length=1),
        SizeAxis(8),
        Option(
            "Transfer these sizes.", name="--size", usual="64K,1M,8M", quick="64K,1M", sets=("block_bytes", "sizes")
        ),
    ]
    depths: Annotated[
        list[Annotated[int, Field(ge=1, le=64)]],
        Field(min_length=1),
        CountAxis(),
        Option(
            "Begin this many transfers before each computation. Method threads has as many helper threads.",
            name="--depth",
            usual="1,4,16",
            quick="1,4",
            sets=("depth", "depths"),
        ),
    ]
    methods: Annotated[
        list[Method],
        Field(min_length=1),
        Names(METHODS),
        Option(
            "Move the data by threads (helper threads with blocking calls) or nonblocking (calls that only begin a "
            "transfer).",
            name="--method",
            usual="threads,nonblocking",
            sets=("method",),
        ),
    ]
    backends: Annotated[
        list[str],
        Field(min_length=1),
        Names(),
        Option(
            "Use these backends. Each is measured with the methods that it has.",
            name="--backend",
            usual="posix,mpiio,uring",
            sets=("backend",),
        ),
    ]
    accesses: Annotated[
        list[Access],
        Field(min_length=1),
        Names(ACCESSES),
        Option("Measure write, or write and read.", name="--access", usual="write,read", sets=("access",)),
    ]
    stretch_bytes: Annotated[
        int,
        Field(ge=8),
        Size(),
        Option(
            "Let a rank move about this much between two readings of the clock, one batch at least.",
            name="--bytes",
            usual="32M",
            quick="4M",
            sets=("volume",),
        ),
    ]
    rounds: Annotated[
        int, Field(ge=1, le=1000), Option("Measure I/O, computation, both and blocking calls so often in a repetition.")
    ] = 4
    tests: Annotated[
        int,
        Field(ge=0, le=1_000_000),
        Option(
            "With method nonblocking, ask so many times during each computation whether the transfers have ended. Some "
            "libraries move data only then."
        ),
    ] = 0
    computation: Annotated[
        float,
        Field(ge=0.01, le=100),
        Option("Let a computation last so many times as long as the I/O of its batch, by a measurement before."),
    ] = 1.0
    cache: Annotated[
        Literal["none", "advise", "direct"],
        Option(
            "Treat the page cache: none, advise (drop the data before it is read), or direct (O_DIRECT where the "
            "backend has it, else advise)."
        ),
    ] = "direct"
    metrics: list[str] = list(METRICS)

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Leave each rank a second core, where there is one."""
        return super().settle({"ranks": [max(1, cores_of_nodes(said) // 2)], **said})

    @model_validator(mode="after")
    def _writes_before_it_reads(self) -> Self:
        if "write" not in self.accesses:
            raise OptionError("accesses", "what is read has to be written first", "write write,read")
        return self

    @model_validator(mode="after")
    def _asks_somebody(self) -> Self:
        if self.tests and "nonblocking" not in self.methods:
            raise OptionError("tests", "helper threads are not asked", "add --method nonblocking, or leave --tests out")
        return self

    @model_validator(mode="after")
    def _has_whole_pages(self) -> Self:
        odd = [size for size in self.sizes if size % _PAGE]
        if self.cache == "direct" and odd:
            right = "write multiples of 4K, or --cache advise"
            raise OptionError("sizes", "O_DIRECT moves multiples of 4K", right, str(odd[0]))
        return self
