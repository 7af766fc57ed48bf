# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``congestion``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from ullage.runs.kernels.options import MPI, CaseOptions
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import RanksOptions
from ullage.runs.options.kinds import Duration, Share, Size

Load: TypeAlias = Literal["incast", "alltoall"]


class CongestionOptions(RanksOptions, CaseOptions):
    """``share``: of the ranks that are victims. ``test_s``: of each of the three tests, when nothing disturbs it."""

    at = (MPI,)
    changes: ClassVar[Mapping[str, Change]] = {
        "ranks": Change("All ranks together.", unsaid="the usable cores, at least 4", least=4),
        "quick": Change("A first look: shorter tests, 3 times."),
        "seed": Change("Of the choice of victims, their rings, and the order."),
    }

    loads: Annotated[
        list[Load],
        Field(min_length=1),
        Option("What the others do: incast, alltoall or both.", name="--load", usual="incast,alltoall"),
    ]
    load_bytes: Annotated[
        int, Field(ge=1, le=1 << 24), Size(), Option("Of a message of the load.", name="--load-size")
    ] = 4096
    share: Annotated[
        float,
        Field(ge=0.01, le=0.9),
        Share(),
        Option("Of the ranks, at least 2 and all but 2.", name="--victims"),
    ] = 0.2
    rings: Annotated[int, Field(ge=1, le=1000), Option("Random orders of the victims.")] = 30
    test_s: Annotated[
        float, Field(ge=1e-3, le=60), Duration(), Option("Of each test.", name="--test", usual="200ms", quick="50ms")
    ] = 0.2
