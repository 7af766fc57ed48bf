# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``pairs``, as they stand in request.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ullage.runs.kernels.options import MPI, CaseOptions, MessagePagesOptions
from ullage.runs.options.declared import RANKS, Change, Option
from ullage.runs.options.groups import NodesOptions
from ullage.runs.options.kinds import FilePath, SizeAxis


def find_file(path: Path) -> str:
    """Return the absolute form of ``path``."""
    return str(path.absolute())


class PairsOptions(NodesOptions, MessagePagesOptions, CaseOptions):
    """The options of suite ``pairs``.

    ``ranks``, ``nodes`` and ``between`` are null until machine and hosts are known; sizes rise.

    ``pattern``: a file, ``pattern_sha256`` what it held when the run was begun.
    """

    at = (MPI,)
    changes: ClassVar[Mapping[str, Change]] = {
        "nodes": Change(unsaid="the nodes of --hosts or of the batch job"),
        "quick": Change("Take a first look: fewer messages, only the best and the worst bisection."),
        "seed": Change("Choose the order and the random pairs. The same seed gives the same choice."),
    }

    ranks: Annotated[
        int | None,
        Field(ge=2),
        Option(
            "Measure all pairs of this many ranks.",
            unsaid="one on each node; on one node the number of usable cores, at least 2",
            order=RANKS - 1,
        ),
    ] = None
    between: Annotated[
        Literal["nodes", "ranks"] | None,
        Option("Measure pairs of nodes or of ranks.", unsaid="nodes if there are several"),
    ] = None
    sizes: Annotated[
        list[Annotated[int, Field(ge=1, lt=2**31)]],
        SizeAxis(metavar="SIZES"),
        Option(
            "Send messages of these sizes. Up to 4K the round trip is measured, above that the "
            "bandwidth in one direction.",
            usual="8,1M",
        ),
    ]
    one_at_a_time: Annotated[
        bool, Option("Measure one pair after the other, not all disjoint pairs of a round at the same time.")
    ] = False
    pattern: Annotated[
        str | None,
        FilePath(find_file),
        Option("Also measure the pattern in this file: lines FROM TO [WEIGHT] with numbers of ranks."),
    ] = None
    pattern_sha256: str = ""
