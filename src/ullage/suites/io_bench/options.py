# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``io_bench``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import MachineOptions, QuickOnCommandLine, RunOptions
from ullage.runs.options.kinds import Size, SizeAxis

# A file holds at least ``FEWEST`` of its records, however large they are, and at most ``MOST``, however small.
FEWEST: Final = 8
MOST: Final = 2048


class IoBenchOptions(QuickOnCommandLine, MachineOptions, RunOptions):
    """The options of suite ``io_bench``.

    Sizes in bytes. ``volume``: of a file, where that is at least 8 records and at most 2048.
    """

    metrics = "bandwidth latency_p50"
    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Measure the disk that holds this folder. Repeat the option to measure several disks."),
        "time_s": Change(usual="5m", quick="20s"),
        "quick": Change("Take a first look in 20 s: records 64K:16M:x4, files of 32M."),
    }

    records: Annotated[
        list[Annotated[int, Field(ge=8)]],
        SizeAxis(8),
        Option(
            "Transfer records of these sizes.",
            name="--record",
            usual="4K:128M:x2",
            quick="64K:16M:x4",
            sets=("block_bytes",),
        ),
    ]
    volume: Annotated[
        int,
        Field(ge=8),
        Size(),
        Option("Use files of this size, but of at least 8 and at most 2048 records.", usual="256M", quick="32M"),
    ]
    backend: Annotated[Literal["posix", "uring"], Option("Use posix or uring.")] = "posix"
