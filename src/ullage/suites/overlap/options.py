# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``overlap``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.groups import MachineOptions, StorageOptions
from ullage.runs.options.kinds import Names, Size, SizeAxis
from ullage.runs.options.model import OptionError

Method: TypeAlias = Literal["threads", "nonblocking"]

METHODS: Final[tuple[Method, ...]] = ("threads", "nonblocking")
_PAGE: Final = 4096


class OverlapOptions(MachineOptions, StorageOptions):
    """The options of suite ``overlap``. ``stretch_bytes``: what a rank moves between two readings of the clock."""

    workload = "overlap"
    metrics = (
        "overlap_share compute_slowdown overlap_gain start_share batch_io_time batch_compute_time batch_both_time "
        "batch_blocking_time io_alone_rate"
    )
    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Keep the files at this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="half of the usable cores, so that each rank has a second core for its helpers"),
        "time_s": Change(usual="10m", quick="30s"),
        "quick": Change("Take a first look in 30 s: two sizes, two depths, 4M in a stretch."),
    }

    sizes: Annotated[
        list[int],
        SizeAxis(8),
        OfEngine("transfer_bytes", name="--size", usual="64K,1M,8M", quick="64K,1M", sets=("block_bytes", "sizes")),
    ]
    depths: Annotated[
        list[Annotated[int, Field(le=64)]], OfEngine("depth", usual="1,4,16", quick="1,4", sets=("depths",))
    ]
    methods: Annotated[list[Method], OfEngine("method", usual="threads,nonblocking")]
    backends: Annotated[
        list[str],
        Names(),
        Option(
            "Use these backends. Each is measured with the methods that it has.",
            name="--backend",
            usual="posix,mpiio,uring",
        ),
    ]
    accesses: Annotated[
        list[Literal["write", "read"]], Option("Measure write, or write and read.", name="--access", usual="write,read")
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
    rounds: Annotated[int, OfEngine()] = 4
    tests: Annotated[int, OfEngine()] = 0
    computation: Annotated[float, OfEngine()] = 1.0
    cache: Annotated[
        Literal["none", "advise", "direct"],
        Option(
            "Treat the page cache: none, advise (drop the data before it is read), or direct (O_DIRECT where the "
            "backend has it, else advise)."
        ),
    ] = "direct"

    @staticmethod
    def usual_ranks(cores: int) -> list[int]:
        """Leave each rank a second core, where there is one."""
        return [max(1, cores // 2)]

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
