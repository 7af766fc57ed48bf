# SPDX-License-Identifier: Apache-2.0
"""parts/outcomes.json: how the parts of a run ended, for the summary and for `ullage resume`."""

from typing import Annotated

from pydantic import Field

from ullage.model.base import Tolerant


class PartOutcome(Tolerant):
    """``code``: the exit code the part would have had by itself; ``began``: whether anything was started of it."""

    suite: str
    code: Annotated[int, Field(ge=0)]
    began: bool
    seconds: Annotated[float, Field(ge=0)] = 0.0
    reason: str = ""


class PartOutcomes(Tolerant):
    """In the order in which they ended."""

    outcomes: list[PartOutcome]
