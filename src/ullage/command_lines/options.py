# SPDX-License-Identifier: Apache-2.0
"""What a suite of command lines was asked for, in its own types, as it stands in request.json."""

from typing import Annotated

from pydantic import Field

from ullage.model.base import Strict


class LineOptions(Strict):
    """``lines`` as typed. ``places``: name of the target that stands for each folder the lines name.

    ``rooms``: bytes that might be taken of each target when the run began, which volumes behind a wall are cut to.
    """

    lines: Annotated[list[str], Field(min_length=1)]
    places: dict[str, str] = {}
    metrics: Annotated[list[str], Field(description="of the rows; empty: those of every suite")] = []
    rooms: dict[str, int] | None = None
    ranks: Annotated[int, Field(ge=1, description="null: what the lines say")] | None = None
    nodes: Annotated[int, Field(ge=1)] | None = None
    ranks_per_node: Annotated[int, Field(ge=1)] | None = None
    space: Annotated[int, Field(ge=0)] | None = None
    keep: bool = False
    watchdog_s: Annotated[float, Field(gt=0)] | None = None
