# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``congestion`` in their own types, as they stand in request.json."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.runs.kernels.options import CaseOptions

Load: TypeAlias = Literal["incast", "alltoall"]


class CongestionOptions(CaseOptions):
    """``share``: of the ranks that are victims. ``test_s``: of each of the three tests, when nothing disturbs it."""

    ranks: Annotated[int, Field(ge=4)]
    nodes: Annotated[int, Field(ge=1)] | None = None
    ranks_per_node: Annotated[int, Field(ge=1)] | None = None
    loads: Annotated[list[Load], Field(min_length=1)]
    load_bytes: Annotated[int, Field(ge=1, le=1 << 24)] = 4096
    share: Annotated[float, Field(ge=0.01, le=0.9)] = 0.2
    rings: Annotated[int, Field(ge=1, le=1000)] = 30
    test_s: Annotated[float, Field(ge=1e-3, le=60)] = 0.2
