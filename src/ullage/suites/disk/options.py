# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``disk`` in their own types, as they stand in request.json."""

from typing import Annotated, Literal

from pydantic import Field

from ullage.model.machine import MachineFile
from ullage.runs.cells.options import RunOptions

METRICS = ("bandwidth", "operation_rate", "latency_p50", "latency_p99")


class DiskOptions(RunOptions):
    """Sizes in bytes. ``volume`` is of a case with blocks, ``small_volume`` of one with small requests.

    null: chosen by a probe; with a ``volume`` given, ``small_volume`` follows from it.
    """

    threads: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)]
    by: Annotated[
        Literal["ranks", "threads"],
        Field(description="threads of cases with blocks: processes with a file each, or of one process, on one file"),
    ] = "ranks"
    blocks: Annotated[list[Annotated[int, Field(ge=8)]], Field(min_length=1)]
    small: Annotated[int, Field(ge=8)]
    depths: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)]
    backend: Annotated[
        Literal["posix", "uring"] | None, Field(description="null: blocks by posix, small requests by uring if it can")
    ] = None
    volume: Annotated[int, Field(ge=8)] | None = None
    small_volume: Annotated[int, Field(ge=8)] | None = None
    peer: bool = True
    machine: MachineFile | None = None
    metrics: list[str] = list(METRICS)
    smalls: Annotated[
        dict[str, int], Field(description="bytes of a small request by target, as its direct I/O allows")
    ] = {}
