# SPDX-License-Identifier: Apache-2.0
"""What every suite that repeats cells on storage within a time asks for, as it stands in request.json."""

from typing import Annotated

from pydantic import Field

from ullage.model.base import Strict


class RunOptions(Strict):
    """What every suite that repeats cells within a time asks for. Sizes in bytes, times in s."""

    time_s: Annotated[float, Field(gt=0)] = 120.0
    interval: Annotated[float, Field(gt=0, lt=10, description="half the width of the median's interval over it")] = 0.05
    min_repetitions: Annotated[int, Field(ge=1)] = 3
    max_repetitions: Annotated[int, Field(ge=1)] = 15
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 1
    watchdog_s: Annotated[float, Field(gt=0, description="null: 120 s, or longer for large cases")] | None = None
    ceilings: dict[str, float] = {}
    space: Annotated[int, Field(ge=0)] | None = None
    keep: bool = False
