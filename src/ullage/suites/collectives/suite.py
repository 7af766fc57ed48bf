# SPDX-License-Identifier: Apache-2.0
"""Suite ``collectives``: its options, its cases, and its rows, whose parameters say all that decides them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Final, Literal, TypeAlias, cast, get_args

from pydantic import Field

from ullage.analysis.ceilings.messages import Copiers, collectives, copies, doubling
from ullage.analysis.ladders import LadderRule, Step
from ullage.analysis.message_steps import BINDING, small_protocol
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import ranks_on_a_node
from ullage.model.describe import Describe
from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.plan import Layout, Parameters, Scalar
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.report.points import spread_out
from ullage.results.rows import RowContext
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.bounds import bound_cases, is_of_bounds
from ullage.runs.kernels.options import MPI, CaseOptions
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.engine import engine_parameters
from ullage.runs.options.groups import BindOptions, RankAxisOptions, cores_of_nodes
from ullage.runs.options.kinds import Size, SizeAxis
from ullage.runs.options.model import COMMAND_LINE_ONLY
from ullage.runs.options.reading import read_options
from ullage.runs.session import Note
from ullage.runs.told import Launches, Source, told_rows, usual
from ullage.system.hardware import usable_cores
from ullage.units import format_bytes

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
    changes = {
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


COLLECTIVE: Final = "collective"
ONE_SIDED: Final = "one-sided"
HEADERS: Final = ("operation", "way", "ranks", "message")
# So many operations are under way together where a bandwidth is measured; OSU's windows are as large.
WINDOW: Final = 64
_ELEMENT: Final = 4
_NUMBER: Final = 8
_MANY: Final = frozenset({"gather", "scatter", "allgather", "allgatherv", "alltoall", "alltoallv"})
# Those whose blocks of all ranks are counted in one number, as by the engine (mpi/collectives.cpp).
_COUNTED_TOGETHER: Final = _MANY - {"alltoall"}
_INT_MAX: Final = 2**31 - 1
_WINDOWS: Final = 5
_WINDOW_S: Final = 0.01
# Calibration, warm-up and what the engine does around a repetition take this many seconds.
_AROUND_S: Final = 0.05
_OVERLAP_STRETCHES: Final = 3
_MOST_UNDER_WAY_BYTES: Final = 64 << 20
_OVERLAP_SIZES: Final = 3


def sizes_of(operation: str, ranks: int, sizes: Sequence[int], room: int, most_elements: int | None) -> list[int]:
    """Return the sizes that ``operation`` can have: a barrier has 0 only.

    They fit into the ``room`` of a rank, and a call moves at most ``most_elements`` (None: any number).
    """
    if operation == "barrier":
        return [0]
    unit = _ELEMENT if operation in REDUCTIONS else 1
    most = room // ranks if operation in _MANY else room
    if most_elements is not None:
        most = min(most, most_elements * unit // (ranks if operation in _COUNTED_TOGETHER else 1))
    return [size for size in sizes if size % unit == 0 and size <= most]


@dataclass(frozen=True)
class Planner:
    """Makes the cases of suite ``collectives``. ``layouts``: one for each count of ranks."""

    options: CollectivesOptions
    layouts: Sequence[Layout]
    description: Describe

    def cases(self) -> list[KernelCase]:
        """Return the cases of all layouts, those of a layout together."""
        return [case for layout in self.layouts for case in self._of_layout(layout)]

    def _of_layout(self, layout: Layout) -> Iterator[KernelCase]:
        for operation in self.options.operations:
            for size in self._sizes(operation, layout):
                yield self._case(COLLECTIVE, (operation, "blocking"), size, layout)
        for operation in self.options.overlap:
            for size, tests in product(spread_out(self._sizes(operation, layout), _OVERLAP_SIZES), self.options.tests):
                way = f"nonblocking, {tests} tests" if tests else "nonblocking"
                yield self._case(COLLECTIVE, (operation, way), size, layout, mode="overlap", tests=tests)
        yield from bound_cases(self._bounds(), layout, self.description, len(HEADERS), usable_cores())
        # Latencies are measured with every way of ending an operation, bandwidths with one.
        syncs = self.options.syncs
        for operation, size in product(self.options.one_sided, self.options.sizes):
            if size % (_NUMBER if operation == "accumulate" else 1) == 0:
                for sync in syncs:
                    yield self._case(ONE_SIDED, (operation, sync), size, layout, sync=sync, outstanding=1)
                bulk = "flush" if "flush" in syncs else syncs[0]
                words = (operation, f"{bulk}, {WINDOW} under way")
                yield self._case(ONE_SIDED, words, size, layout, sync=bulk, outstanding=WINDOW)

    def _bounds(self) -> Iterator[tuple[int, Copiers, int]]:
        for size in self.options.sizes:
            yield size, "all", 1
        for size in self.options.sizes if self.options.one_sided else ():
            # Operations under way together have places of their own, as far as the engine's memory for them goes.
            yield size, "one", max(1, min(WINDOW, _MOST_UNDER_WAY_BYTES // size))

    def _case(self, workload: str, words: tuple[str, str], size: int, layout: Layout, **more: int | str) -> KernelCase:
        parameters: Parameters = {"operation": words[0], "message_bytes": size, **more}
        seconds = (_OVERLAP_STRETCHES if "tests" in more else 1) * (_WINDOWS * _WINDOW_S + _AROUND_S)
        shown = (*words, str(layout.ranks), format_bytes(size) if size else "")
        return kernel_case(workload, parameters, MPI, shown, self.description, seconds=seconds, layout=layout)

    def _sizes(self, operation: str, layout: Layout) -> list[int]:
        most_elements = None if self.description.mpi.large_counts else _INT_MAX
        return sizes_of(operation, layout.ranks, self.options.sizes, self.options.room, most_elements)

    def _any_is_counted_out(self) -> bool:
        """Tell whether some size is left out only because the calls of this MPI count their elements as an int."""
        sizes, room = self.options.sizes, self.options.room
        return any(
            self._sizes(operation, layout) != sizes_of(operation, layout.ranks, sizes, room, None)
            for layout in self.layouts
            for operation in self.options.operations
        )

    def left_out(self) -> list[Note]:
        """Return a note on the sizes that some operation cannot have, if there are any.

        Raise ``UserError`` where they leave no case.
        """
        lacking: dict[int, dict[str, None]] = {}
        for layout in self.layouts:
            for operation in self.options.operations:
                found = self._sizes(operation, layout)
                for size in self.options.sizes:
                    if size not in found and operation != "barrier":
                        lacking.setdefault(size, {})[operation] = None
        if not lacking:
            return []
        words = "; ".join(f"{format_bytes(size)} of {', '.join(names)}" for size, names in lacking.items())
        rules = [
            f"reductions add numbers of {_ELEMENT} bytes",
            f"no rank holds more than {format_bytes(self.options.room)}",
        ]
        if self._any_is_counted_out():
            rules.append(f"calls of this MPI move at most {_INT_MAX} elements (MPI 4 has large counts)")
        text = f"left out: {words}: {', '.join(rules[:-1])}, and {rules[-1]}"
        right = "name other sizes with --sizes, or a larger --room"
        if not self.cases():
            raise UserError(text, "--sizes", right, EXIT_BAD_INPUT)
        return [Note("sizes-left-out", text, right)]


def prepare_collectives(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Plan the cases; raise ``UserError`` where the engine lacks a workload, or the ranks do not fill the nodes."""
    options = read_options(CollectivesOptions, request)
    layouts = [options.place(ranks, usable_cores()) for ranks in options.ranks]
    planner = Planner(options, layouts, engine_context.description)
    notes = (*planner.left_out(), *crowded(layouts, usable_cores()))
    return PreparedKernels(request, options, HEADERS, planner.cases(), notes=notes)


def crowded(layouts: Sequence[Layout], cores: int | None) -> list[Note]:
    """Return a note where ranks would share cores, as far as that is known before anything runs."""
    many = [layout.ranks for layout in layouts if (ranks_on_a_node(layout) or 0) > (cores or layout.ranks)]
    if not many:
        return []
    text = (
        f"{', '.join(map(str, many))} ranks share {cores} cores: what is measured there is how the kernel switches "
        "between them, and no finding is made of it"
    )
    return [Note("oversubscribed", text, "take fewer ranks, or allow more cores")]


METRICS: Final = (
    "collective_latency",
    "collective_latency_slowest",
    "link_bandwidth",
    "overlap",
    "one_sided_latency",
    "one_sided_bandwidth",
)


def collective_rows(launches: Launches, context: RowContext) -> list[Row]:
    """Return all rows of this suite's cases, in the order in which their cases were first met."""
    return told_rows(launches, context.without_storage(MPI.name, METRICS, is_place=False), _params_of)


def is_crowded(row: Row) -> bool:
    """Tell whether the ranks of ``row`` shared cores."""
    return row.has_flag(OVERSUBSCRIBED)


def _params_of(row: Row, source: Source) -> dict[str, Scalar] | None:
    """Tell a row's parameters.

    A single operation tells a latency, many under way together a bandwidth, and neither the other.
    """
    workload = source.case.workload
    if is_of_bounds(source):
        return None
    if workload == ONE_SIDED:
        params = source.values.some("operation", "sync", "outstanding", "message_bytes")
        tells = (int(params["outstanding"]) > 1) == (row.metric == "one_sided_bandwidth")
    else:
        params = source.values.some("operation", "mode", "tests", "message_bytes")
        if params["mode"] == "blocking":
            del params["tests"]
        if params["operation"] == "barrier":
            del params["message_bytes"]
        tells = row.metric != "link_bandwidth" or params["mode"] == "blocking"
    return {"access": workload, **params, **usual(row, "ranks", "nodes")} if tells else None


def blocking(rows: Iterable[Row], metric: str = "collective_latency") -> list[Row]:
    """Return the rows of the blocking forms that have ``metric``."""
    return [row for row in rows if row.metric == metric and row.params.get("mode") == "blocking"]


def operation_of(row: Row) -> str:
    """Return the name of the operation, such as ``allreduce``."""
    return row.word("operation")


def size_of(row: Row) -> int:
    """Return the bytes of a message; 0 for a barrier."""
    return row.count("message_bytes")


# Successive roots may be served at the same time, each rank making a share of the copies.
_OVERLAPPING: Final = ("bcast", "reduce")
_ROOTED: Final = ("gather", "scatter")


def _blocking_in(*operations: str) -> Callable[[Row], bool]:
    return lambda row: row.word("operation") in operations


def _by_all(_row: Row) -> Copiers:
    return "all"


BOUNDS: Final = (
    *collectives("collective_latency", "collective_latency_slowest"),
    copies("link_bandwidth", _by_all, _blocking_in(*_OVERLAPPING), lambda ranks: ranks / (ranks - 1)),
    copies("link_bandwidth", _by_all, _blocking_in(*_ROOTED), float),
    copies("link_bandwidth", _by_all, lambda row: row.word("operation") not in (*_OVERLAPPING, *_ROOTED)),
    copies("one_sided_bandwidth", lambda _row: "one"),
)


def _small_pair(line: Row, row: Row) -> bool:
    same = (line.ranks, line.count("message_bytes")) == (row.ranks, row.count("message_bytes"))
    return row.metric in ("pair_latency", "ping_pong_latency") and same


LADDER: Final = LadderRule(
    "messages",
    (
        small_protocol(_small_pair),
        Step(
            "rounds",
            "Rounds of the operation, beyond one message after the other: ranks that wait for others, and what all "
            "of them do at once",
            _small_pair,
            advice="Bind each rank to a core of its own and keep other programs off these cores.",
            command=BINDING,
            may_rank=True,
            expects=lambda _above, below: doubling(below.ranks),
        ),
    ),
    lambda row: row.metric == "collective_latency" and row.word("operation") == "allreduce",
)
