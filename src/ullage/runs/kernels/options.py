# SPDX-License-Identifier: Apache-2.0
"""Options that every suite of work without storage has, in their own types, as they stand in request.json."""

from typing import Annotated

from pydantic import Field

from ullage.model.base import Strict
from ullage.model.machine import MachineFile


class CaseOptions(Strict):
    """``time_s``: for all measurement; null: as long as it takes."""

    repetitions: Annotated[int, Field(ge=1)] = 6
    time_s: Annotated[float, Field(gt=0)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 1
    quick: bool = False
    peer: bool = True
    machine: Annotated[MachineFile | None, Field(description="datasheet values, as ceilings")] = None


class KernelOptions(CaseOptions):
    """``threads``: counts to measure with, rising."""

    threads: Annotated[list[Annotated[int, Field(ge=1, le=4096)]], Field(min_length=1)]
