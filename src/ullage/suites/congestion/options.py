# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``congestion``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from ullage.runs.kernels.options import MPI, CaseOptions
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import BindOptions, RanksOptions
from ullage.runs.options.kinds import Duration, Share, Size

Load: TypeAlias = Literal["incast", "alltoall"]


class CongestionOptions(BindOptions, RanksOptions, CaseOptions):
    """The options of suite ``congestion``.

    ``share``: of the ranks that are victims. ``test_s``: of each of the three tests, when nothing disturbs it.
    """

    at = (MPI,)
    changes: ClassVar[Mapping[str, Change]] = {
        "ranks": Change(
            "Start this many ranks, victims and load together.",
            unsaid="the number of usable cores, at least 4",
            least=4,
        ),
        "quick": Change("Take a first look: shorter tests, each 3 times."),
        "seed": Change("Choose the victims, their rings and the order of the cases at random by this seed."),
    }

    loads: Annotated[
        list[Load],
        Field(min_length=1),
        Option("Load the network by incast, alltoall or both.", name="--load", usual="incast,alltoall"),
    ]
    load_bytes: Annotated[
        int, Field(ge=1, le=1 << 24), Size(), Option("Send load messages of this size.", name="--load-size")
    ] = 4096
    share: Annotated[
        float,
        Field(ge=0.01, le=0.9),
        Share(),
        Option(
            "Use this share of the ranks as victims. At least 2 ranks are victims, and at least 2 are not.",
            name="--victims",
        ),
    ] = 0.2
    rings: Annotated[int, Field(ge=1, le=1000), Option("Use this many random rings of the victims.")] = 30
    test_s: Annotated[
        float,
        Field(ge=1e-3, le=60),
        Duration(),
        Option("Run each test for this long.", name="--test", usual="200ms", quick="50ms"),
    ] = 0.2
