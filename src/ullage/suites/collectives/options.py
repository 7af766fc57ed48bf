# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``collectives`` in their own types, as they stand in request.json."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from ullage.runs.kernels.options import CaseOptions

Operation: TypeAlias = Literal[
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "reduce_scatter",
]
OneSided: TypeAlias = Literal["put", "get", "accumulate"]
Sync: TypeAlias = Literal["lock", "flush", "fence"]

REDUCTIONS: Final = frozenset({"reduce", "allreduce", "reduce_scatter"})
QUICK_REPETITIONS: Final = 3
# Of the overlap as many calls of MPI_Test during the computation: none, and enough for a library that needs them.
TESTS: Final = (0, 8)


class CollectivesOptions(CaseOptions):
    """``ranks``: counts to measure with, rising. ``overlap``: operations whose nonblocking form is measured, too."""

    ranks: Annotated[list[Annotated[int, Field(ge=2)]], Field(min_length=1)]
    nodes: Annotated[int, Field(ge=1)] | None = None
    ranks_per_node: Annotated[int, Field(ge=1)] | None = None
    operations: Annotated[list[Operation], Field(min_length=1)]
    sizes: Annotated[list[Annotated[int, Field(ge=1, lt=2**31)]], Field(min_length=1)]
    overlap: list[Operation] = []
    tests: list[Annotated[int, Field(ge=0, le=10_000)]] = list(TESTS)
    one_sided: list[OneSided] = []
    syncs: list[Sync] = []
