# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``congestion``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from ullage.runs.kernels.options import MPI, CaseOptions
from ullage.runs.options.declared import Change, OfEngine
from ullage.runs.options.groups import BindOptions, RanksOptions
from ullage.runs.options.kinds import Share

Load: TypeAlias = Literal["incast", "alltoall"]


class CongestionOptions(BindOptions, RanksOptions, CaseOptions):
    """The options of suite ``congestion``.

    ``share``: of the ranks that are victims. ``test_s``: of each of the three tests, when nothing disturbs it.
    """

    workload = "congestion"
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

    loads: Annotated[list[Load], OfEngine("load", usual="incast,alltoall")]
    load_bytes: Annotated[int, OfEngine(name="--load-size")] = 4096
    share: Annotated[float, Share(), OfEngine("victim_share", name="--victims")] = 0.2
    rings: Annotated[int, OfEngine()] = 30
    test_s: Annotated[float, OfEngine(name="--test", usual="200ms", quick="50ms")] = 0.2
