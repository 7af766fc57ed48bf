# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``disk``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ullage.runs.options.declared import RANKS, Change, Option
from ullage.runs.options.groups import MachineOptions, PeerOptions, Positive, QuickOnCommandLine, RunOptions
from ullage.runs.options.kinds import Choice, CountAxis, Size, SizeAxis
from ullage.runs.options.model import OptionError

METRICS = ("bandwidth", "operation_rate", "latency_p50", "latency_p99")


class DiskOptions(QuickOnCommandLine, PeerOptions, MachineOptions, RunOptions):
    """Sizes in bytes. ``volume`` is of a case with blocks, ``small_volume`` of one with small requests.

    null: chosen by a probe; with a ``volume`` given, ``small_volume`` follows from it.
    """

    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("A folder on the disk to measure. Repeat it for others."),
        "time_s": Change("For all measurement, fio's too.", usual="2m", quick="30s"),
        "quick": Change("A first look: threads 1,2, blocks 1M,10M, depths 1,8,64, in 30 s."),
        "peer": Change("Do not run fio beside, even where it is."),
    }

    threads: Annotated[
        list[Positive],
        Field(min_length=1),
        CountAxis(),
        Option("At work at once on one volume.", usual="1,2,4", quick="1,2", order=RANKS),
    ]
    by: Annotated[
        Literal["ranks", "threads"],
        Field(description="threads of cases with blocks: processes with a file each, or of one process, on one file"),
        Option("What a thread is: ranks (a process with its own file) or threads (of one process).", order=RANKS),
    ] = "ranks"
    blocks: Annotated[
        list[Annotated[int, Field(ge=8)]],
        Field(min_length=1),
        SizeAxis(8, "1K, 4K or 1M"),
        Option("Sizes of a block.", name="--block", usual="1M,10M,100M", quick="1M,10M"),
    ]
    small: Annotated[int, Field(ge=8), Size(8, "1K, 4K or 1M"), Option("Bytes of a small request.", usual="1K")]
    depths: Annotated[
        list[Positive],
        Field(min_length=1),
        CountAxis(),
        Option("Small requests in flight.", name="--depth", usual="1:128:x2", quick="1,8,64"),
    ]
    backend: Annotated[
        Literal["posix", "uring"] | None,
        Field(description="null: blocks by posix, small requests by uring if it can"),
        Choice(("posix", "uring"), metavar="NAME"),
        Option("posix or uring for everything.", unsaid="posix for blocks, uring for small requests"),
    ] = None
    volume: Annotated[
        int | None, Field(ge=8), Size(), Option("Shared by the threads of a case.", unsaid="a probe chooses")
    ] = None
    small_volume: Annotated[
        int | None,
        Field(ge=8),
        Size(),
        Option("The same of small requests.", unsaid="a probe chooses; with --volume a 64th of it, at most 16M"),
    ] = None
    metrics: list[str] = list(METRICS)
    smalls: Annotated[
        dict[str, int], Field(description="bytes of a small request by target, as its direct I/O allows")
    ] = {}

    @model_validator(mode="after")
    def _small_is_smaller(self) -> Self:
        if self.small >= min(self.blocks):
            what = f"a small request of {self.small} bytes is no smaller than the smallest block"
            raise OptionError("small", what, "name blocks that are larger")
        return self
