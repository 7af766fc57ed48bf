# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``pairs`` in their own types, as they stand in request.json."""

from typing import Annotated, Literal

from pydantic import Field

from ullage.runs.kernels.options import CaseOptions


class PairsOptions(CaseOptions):
    """``ranks``, ``nodes`` and ``between`` are null until machine and hosts are known; sizes rise.

    ``pattern``: a file, ``pattern_sha256`` what it held when the run was begun.
    """

    ranks: Annotated[int, Field(ge=2)] | None = None
    nodes: Annotated[int, Field(ge=1)] | None = None
    between: Literal["nodes", "ranks"] | None = None
    sizes: Annotated[list[Annotated[int, Field(ge=1, lt=2**31)]], Field(min_length=1)]
    one_at_a_time: bool = False
    pattern: str | None = None
    pattern_sha256: str = ""
