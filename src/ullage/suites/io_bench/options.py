# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``io_bench`` in their own types, as they stand in request.json."""

from typing import Annotated, Final, Literal

from pydantic import Field

from ullage.model.machine import MachineFile
from ullage.runs.cells.options import RunOptions

# A file holds so many of its records at least, however large they are, and so many at most, however small.
FEWEST: Final = 8
MOST: Final = 2048


class IoBenchOptions(RunOptions):
    """Sizes in bytes. ``volume``: of a file, where that is at least 8 records and at most 2048."""

    records: Annotated[list[Annotated[int, Field(ge=8)]], Field(min_length=1)]
    volume: Annotated[int, Field(ge=8)]
    backend: Literal["posix", "uring"] = "posix"
    machine: MachineFile | None = None
    metrics: list[str] = ["bandwidth", "latency_p50"]
