# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``pairs``, as they stand in request.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ullage.runs.kernels.options import MPI, CaseOptions
from ullage.runs.options.declared import RANKS, Change, Option
from ullage.runs.options.groups import MessagePagesOptions, NodesOptions
from ullage.runs.options.kinds import FilePath, SizeAxis


def find_file(path: Path) -> str:
    """``path`` from the root."""
    return str(path.absolute())


class PairsOptions(NodesOptions, MessagePagesOptions, CaseOptions):
    """``ranks``, ``nodes`` and ``between`` are null until machine and hosts are known; sizes rise.

    ``pattern``: a file, ``pattern_sha256`` what it held when the run was begun.
    """

    at = (MPI,)
    changes: ClassVar[Mapping[str, Change]] = {
        "nodes": Change(unsaid="as --hosts or the batch job says"),
        "quick": Change("Fewer messages, best and worst bisection only."),
        "seed": Change("Of the order and of random pairs."),
    }

    ranks: Annotated[
        int | None,
        Field(ge=2),
        Option(
            "Ranks of all pairs.", unsaid="one on each node; of one node the usable cores, at least 2", order=RANKS - 1
        ),
    ] = None
    between: Annotated[
        Literal["nodes", "ranks"] | None, Option("nodes or ranks.", unsaid="nodes where there are several")
    ] = None
    sizes: Annotated[
        list[Annotated[int, Field(ge=1, lt=2**31)]],
        Field(min_length=1),
        SizeAxis(metavar="SIZES"),
        Option("Of messages. Up to 4K: latency, there and back; above: bandwidth one way.", usual="8,1M"),
    ]
    one_at_a_time: Annotated[bool, Option("One pair, then the next; not all disjoint pairs of a round at once.")] = (
        False
    )
    pattern: Annotated[
        str | None,
        FilePath(find_file),
        Option("Also a pattern of your own: lines FROM TO [WEIGHT], numbers of ranks."),
    ] = None
    pattern_sha256: str = ""
