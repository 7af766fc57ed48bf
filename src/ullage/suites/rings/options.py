# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``rings``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from ullage.runs.kernels.options import MPI, CaseOptions, MessagePagesOptions
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import BindOptions, PeerOptions, RanksOptions


class RingsOptions(PeerOptions, BindOptions, RanksOptions, MessagePagesOptions, CaseOptions):
    """The options of suite ``rings``.

    ``faithful``: random orders as HPC Challenge draws them, which are not uniform.
    """

    at = (MPI,)
    changes: ClassVar[Mapping[str, Change]] = {
        "ranks": Change(unsaid="the number of usable cores, at least 2", least=2),
        "repetitions": Change("Repeat every ring and pair this often."),
        "time_s": Change("Limit the time of all measurements, other tools included."),
        "quick": Change("Take a first look: 3 repetitions, and fewer pairs if there are many processes."),
        "peer": Change("Do not run hpcc for comparison, even if it is installed."),
        "seed": Change("Choose the random rings. The same seed gives the same rings."),
    }

    faithful: Annotated[bool, Option("Draw random orders as HPC Challenge does. They are not uniform.")] = False
