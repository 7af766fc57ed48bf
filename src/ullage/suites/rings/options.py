# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``rings``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from ullage.runs.kernels.options import MPI, CaseOptions
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import MessagePagesOptions, PeerOptions, RanksOptions


class RingsOptions(PeerOptions, RanksOptions, MessagePagesOptions, CaseOptions):
    """``faithful``: random orders as HPC Challenge draws them, which are not uniform."""

    at = (MPI,)
    changes: ClassVar[Mapping[str, Change]] = {
        "ranks": Change(unsaid="the usable cores, at least 2", least=2),
        "repetitions": Change("Of every ring and pair."),
        "time_s": Change("For our own measurement."),
        "quick": Change("Three repetitions, and fewer pairs of many processes."),
        "peer": Change("Do not run hpcc in turn, even where it is."),
        "seed": Change("Of the random rings."),
    }

    faithful: Annotated[bool, Option("Random orders as HPC Challenge draws them, which are not uniform.")] = False
