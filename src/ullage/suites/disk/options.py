# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``disk``, as they stand in request.json."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ullage.runs.options.declared import RANKS, Change, Option
from ullage.runs.options.each_node import EachNodeOptions
from ullage.runs.options.groups import Counts, MaybeVolume, PeerOptions, QuickOnCommandLine, RunOptions
from ullage.runs.options.kinds import Size, SizeAxis
from ullage.runs.options.model import OptionError


class DiskOptions(EachNodeOptions, QuickOnCommandLine, PeerOptions, RunOptions):
    """The options of suite ``disk``.

    Sizes in bytes. ``volume`` is of a case with blocks, ``small_volume`` of one with small requests.

    null: chosen by a probe; with a ``volume`` given, ``small_volume`` follows from it.
    """

    metrics = "bandwidth operation_rate latency_p50 latency_p99"
    changes = {
        "targets": Change("Measure the disk that holds this folder. Repeat the option to measure several disks."),
        "time_s": Change("Limit the time of all measurements, including those of fio.", usual="2m", quick="30s"),
        "quick": Change("Take a first look in 30 s: threads 1,2, blocks 1M,10M, depths 1,8,64."),
        "peer": Change("Do not run fio for comparison, even if it is installed."),
    }

    threads: Annotated[
        Counts,
        Option(
            "Use these numbers of threads at the same time on one volume.",
            usual="1,2,4",
            quick="1,2",
            order=RANKS,
            sets=("ranks", "threads"),
        ),
    ]
    by: Annotated[
        Literal["ranks", "threads"],
        Field(description="threads of cases with blocks: processes with a file each, or of one process, on one file"),
        Option(
            "Run each thread as a rank with its own file (ranks), or as a thread of one process (threads).", order=RANKS
        ),
    ] = "ranks"
    blocks: Annotated[
        list[Annotated[int, Field(ge=8)]],
        SizeAxis(8, "1K, 4K or 1M"),
        Option(
            "Transfer blocks of these sizes.",
            name="--block",
            usual="1M,10M,100M",
            quick="1M,10M",
            sets=("block_bytes",),
        ),
    ]
    small: Annotated[int, Field(ge=8), Size(8, "1K, 4K or 1M"), Option("Send small requests of this size.", usual="1K")]
    depths: Annotated[
        Counts,
        Option(
            "Keep these numbers of small requests in flight.",
            name="--depth",
            usual="1:128:x2",
            quick="1,8,64",
            sets=("queue_depth",),
        ),
    ]
    backend: Annotated[
        Literal["posix", "uring", "mmap", "pmem"] | None,
        Field(description="null: blocks by posix, small requests by uring if it can"),
        Option(
            "Use this backend for all cases: posix, uring, mmap or pmem.",
            unsaid="posix for blocks, uring for small requests",
        ),
    ] = None
    volume: Annotated[
        MaybeVolume, Option("Transfer this many bytes in each case, divided by its threads.", unsaid="a probe chooses")
    ] = None
    small_volume: Annotated[
        MaybeVolume,
        Option(
            "Transfer this many bytes in each case with small requests.",
            unsaid="a probe chooses; with --volume 1/64 of it, at most 16M",
        ),
    ] = None
    smalls: Annotated[
        dict[str, int], Field(description="bytes of a small request by target, as its direct I/O allows")
    ] = {}

    @model_validator(mode="after")
    def _small_is_smaller(self) -> Self:
        if self.small >= min(self.blocks):
            what = f"a small request of {self.small} bytes is no smaller than the smallest block"
            raise OptionError("small", what, "give larger blocks")
        return self
