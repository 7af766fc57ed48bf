# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``matrix`` in their own types, as they stand in request.json."""

from typing import Annotated, Final, Literal

from pydantic import Field

from ullage.model.machine import MachineFile
from ullage.runs.cells.options import RunOptions
from ullage.suites.matrix.tests import TESTS

METRIC: Final = "file_bandwidth"
# As IOzone has it: from this size of file on, records below the smallest large one are left out unless asked for.
LARGE_FILE: Final = 16 << 20
LEAST_RECORD_OF_LARGE: Final = 64 << 10


class MatrixOptions(RunOptions):
    """Sizes in bytes. ``stride`` in records; ``pieces`` of a transfer by pwritev and preadv."""

    files: Annotated[list[Annotated[int, Field(ge=8)]], Field(min_length=1)]
    records: Annotated[list[Annotated[int, Field(ge=8)]], Field(min_length=1)]
    tests: Annotated[list[Annotated[int, Field(ge=0, le=max(TESTS))]], Field(min_length=1)]
    all_records: bool = False
    direct: bool = False
    cache: Annotated[Literal["none", "advise", "drop"], Field(description="before reads; not with direct")] = "advise"
    sync: Literal["none", "close"] = "close"
    stride: Annotated[int, Field(ge=1)] = 17
    read_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    pieces: Annotated[int, Field(ge=2, le=1024)] = 16
    machine: MachineFile | None = None
    metrics: list[str] = [METRIC]
