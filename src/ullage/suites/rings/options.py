# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``rings`` in their own types, as they stand in request.json."""

from typing import Annotated, Final

from pydantic import Field

from ullage.runs.kernels.options import CaseOptions

QUICK_REPETITIONS: Final = 3
QUICK_RANKS: Final = 2


class RingsOptions(CaseOptions):
    """``faithful``: random orders as HPC Challenge draws them, which are not uniform."""

    ranks: Annotated[int, Field(ge=2)]
    nodes: Annotated[int, Field(ge=1)] | None = None
    ranks_per_node: Annotated[int, Field(ge=1)] | None = None
    faithful: bool = False
