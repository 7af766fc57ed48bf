# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``collectives``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias, cast, get_args

from pydantic import Field

from ullage.runs.kernels.options import MPI, CaseOptions
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.engine import engine_parameters
from ullage.runs.options.groups import BindOptions, RankAxisOptions, cores_of_nodes
from ullage.runs.options.kinds import Size, SizeAxis
from ullage.runs.options.model import COMMAND_LINE_ONLY

OneSided: TypeAlias = Literal["put", "get", "accumulate"]
Sync: TypeAlias = Literal["lock", "flush", "fence"]

OPERATIONS: Final = tuple(engine_parameters("collective")["operation"].choices)
REDUCTIONS: Final = frozenset({"reduce", "allreduce", "reduce_scatter"})
# Calls of MPI_Test during the computation of an overlap: none, and enough for a library that needs them.
TESTS: Final = (0, 8)
_QUICK_OPERATIONS: Final = ("barrier", "bcast", "allreduce", "allgather", "alltoall")
_FEWEST_RANKS: Final = 2


class CollectivesOptions(BindOptions, RankAxisOptions, CaseOptions):
    """The options of suite ``collectives``.

    ``ranks``: counts to measure with, rising. ``overlap``: operations whose nonblocking form is measured, too.
    """

    workload = "collective"
    at = (MPI,)
    changes: ClassVar[Mapping[str, Change]] = {
        "ranks": Change(
            "Measure with these numbers of ranks, for example 2,4 or 2:64:x2.",
            unsaid="powers of 2 from 2 up to the number of cores",
            least=_FEWEST_RANKS,
        ),
        "quick": Change("Take a first look: five operations, two sizes, some overlap, put and get."),
    }

    operations: Annotated[
        list[str],
        OfEngine(
            "operation",
            name="--operations",
            help="Measure these operations, for example allreduce,alltoall.",
            unsaid="all eleven, with --quick five",
        ),
    ]
    sizes: Annotated[
        list[Annotated[int, Field(ge=1, le=2**40)]],
        SizeAxis(),
        Option("Send messages of these sizes, for example 8,64K or 8:1M:x8.", usual="8:1M:x8", quick="8,64K"),
    ]
    room: Annotated[
        int,
        Field(ge=1, le=2**50),
        Size(),
        Option("Leave out sizes for which a rank would hold more than this of messages."),
    ] = 64 << 20
    nonblocking: Annotated[
        bool, Option("Also measure how much of each operation overlaps with computation."), COMMAND_LINE_ONLY
    ] = False
    with_one_sided: Annotated[
        bool, Option("Also measure put, get and accumulate.", name="--one-sided"), COMMAND_LINE_ONLY
    ] = False
    overlap: list[str] = []
    tests: list[Annotated[int, Field(ge=0, le=10_000)]] = list(TESTS)
    one_sided: list[OneSided] = []
    syncs: list[Sync] = []

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the ranks, the operations, and those that are also measured as nonblocking or one-sided."""
        quick, one_sided = bool(said.get("quick")), bool(said.get("with_one_sided"))
        chosen = cast("list[str]", said.get("operations", _QUICK_OPERATIONS if quick else OPERATIONS))
        some = [name for name in ("allreduce",) if quick and name in chosen]
        cores = max(_FEWEST_RANKS, cores_of_nodes(said))
        settled: dict[str, object] = {
            "ranks": [1 << power for power in range(1, cores.bit_length())],
            "operations": chosen,
            "overlap": chosen if said.get("nonblocking") else some,
            "one_sided": get_args(OneSided) if one_sided else ["put", "get"] if quick else [],
            "syncs": get_args(Sync) if one_sided else ["flush"] if quick else [],
        }
        return super().settle({**settled, **said})
