# SPDX-License-Identifier: Apache-2.0
"""Suite ``pairs``: its options and cases: matrices by message size, then patterns with all ranks active.

A pattern of a user is strictly read before anything is started, as the engine reads it afterwards.
"""

import hashlib
import itertools
import os
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from ullage.analysis.ceilings.messages import Copiers
from ullage.errors import UserError
from ullage.launch.base import layout_here
from ullage.model.plan import Layout, Parameters
from ullage.model.request import Request
from ullage.parameters import count_of
from ullage.reading import TABLE_BYTES, as_text, content_of
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.bounds import bound_cases
from ullage.runs.kernels.options import MPI, CaseOptions, MessagePagesOptions
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.options.declared import RANKS, Change, Option
from ullage.runs.options.groups import NodesOptions
from ullage.runs.options.kinds import FilePath, SizeAxis
from ullage.runs.options.reading import read_options
from ullage.runs.session import Note
from ullage.system.allocation import nodes_of_job
from ullage.system.hardware import ranks_by_default, usable_cores
from ullage.units import format_bytes


class PairsOptions(NodesOptions, MessagePagesOptions, CaseOptions):
    """The options of suite ``pairs``.

    ``ranks``, ``nodes`` and ``between`` are null until machine and hosts are known; sizes rise.

    ``pattern``: a file, ``pattern_sha256`` what it held when the run was begun.
    """

    at = (MPI,)
    changes = {
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
        FilePath(lambda path: str(path.absolute())),
        Option("Also measure the pattern in this file: lines FROM TO [WEIGHT] with numbers of ranks."),
    ] = None
    pattern_sha256: str = ""


MATRIX: Final = "ping-pong"
EXCHANGE: Final = "exchange"
HEADERS: Final = ("workload", "pattern", "message", "ranks")
MOST_ENDS: Final = 1024
LARGEST_OF_LATENCY: Final = 4096
_IN_FLIGHT_BYTES: Final = 8 << 20
_MOST_IN_FLIGHT_BYTES: Final = 1 << 30
# The estimate of the time a run takes assumes the latency and rate of plain Ethernet.
_ASSUMED_LATENCY_S: Final = 20e-6
_ASSUMED_RATE: Final = 1e9
_AROUND_S: Final = 0.1


def prepare_pairs(
    request: Request, engine_context: EngineContext, environment: Mapping[str, str] = os.environ
) -> PreparedKernels:
    """Plan the cases; raise ``UserError`` where there are no pairs, or the pattern file is wrong."""
    options = settled(read_options(PairsOptions, request), len(request.hosts), environment)
    layout = layout_here(options.ranks or 2, options.nodes, None)
    cases = [_case(work, parameters, layout, engine_context) for work, parameters in _works(options)]
    least = bound_cases(
        _bounds(options), layout, engine_context.description, len(HEADERS), usable_cores(), options.pages
    )
    request = request.model_copy(update={"options": options.model_dump(mode="json")})
    return PreparedKernels(request, options, HEADERS, [*cases, *least], notes=_left_out(options))


def _bounds(options: PairsOptions) -> Iterator[tuple[int, Copiers, int]]:
    """Yield what bounds the pairs with large messages and the bisections; of small ones a line is enough."""
    for size in options.sizes if options.between == "ranks" else ():
        if size > LARGEST_OF_LATENCY:
            yield size, "one" if options.one_at_a_time else "half", count_of(_matrix_parameters(options, size), "loops")
    yield options.sizes[-1], "all", 1


def every_of(ends: int) -> int:
    """Return N so that every N-th of ``ends`` takes part and at most ``MOST_ENDS`` do.

    N is 1 or a prime above 2, as HPCC has it: a divisor of the ranks of a node would take the same core of each node.
    """
    least = -(-ends // MOST_ENDS)
    if least == 1:
        return 1
    return next(number for number in itertools.count(max(3, least)) if all(number % one for one in range(2, number)))


def _ends_of(options: PairsOptions) -> int:
    return (options.nodes or 1) if options.between == "nodes" else options.ranks or 2


def _left_out(options: PairsOptions) -> tuple[Note, ...]:
    ends, every = _ends_of(options), every_of(_ends_of(options))
    if every == 1:
        return ()
    what = f"1 of {every} {options.between} takes part in the pairs: a matrix of {ends} by {ends} is too large"
    return (Note("pairs-sampled", what, f"use at most {MOST_ENDS} {options.between} to measure all pairs"),)


def settled(options: PairsOptions, hosts: int, environment: Mapping[str, str]) -> PairsOptions:
    """Return the options with everything that machine, hosts and batch job decide. ``hosts``: how many are named."""
    nodes = options.nodes or hosts or nodes_of_job(environment)
    ranks = options.ranks or (nodes if nodes > 1 else max(2, ranks_by_default()))
    between = options.between or ("nodes" if nodes > 1 else "ranks")
    if between == "nodes" and nodes == 1:
        raise UserError("there is one node", "--between nodes", "name --hosts, or measure between ranks")
    sha256 = options.pattern_sha256
    if options.pattern is not None:
        sha256 = read_pattern(Path(options.pattern), ranks).sha256
        if options.pattern_sha256 not in ("", sha256):
            raise UserError("the file has changed since the run began", f"--pattern {options.pattern}")
    update = {"nodes": nodes, "ranks": ranks, "between": between, "pattern_sha256": sha256}
    return options.model_copy(update=update)


def _works(options: PairsOptions) -> Iterator[tuple[str, Parameters]]:
    windows: Parameters = {"windows": 5, "window_s": 0.05, "warm_up_s": 0.05}
    if options.quick:
        windows = {"windows": 3, "window_s": 0.01, "warm_up_s": 0.01}
    shared: Parameters = {**windows, "pages": options.pages}
    for size in options.sizes:
        yield MATRIX, _matrix_parameters(options, size)
    for pattern, seed in _patterns(options):
        seeded: Parameters = {} if seed is None else {"seed": seed}
        yield EXCHANGE, {"pattern": pattern, "message_bytes": options.sizes[-1], **seeded, **shared}
    for size in options.sizes if options.pattern is not None else ():
        yield EXCHANGE, {"pattern": "sparse", "file": options.pattern or "", "message_bytes": size, **shared}


def _patterns(options: PairsOptions) -> list[tuple[str, int | None]]:
    """Return the patterns that differ from each other at this number of ranks, with a seed for random ones."""
    ranks = options.ranks or 2
    names = ["best-bisection"]
    if ranks > 2:
        names += ["worst-bisection", *([] if options.quick else ["incast", "outcast"])]
    found: list[tuple[str, int | None]] = [(name, None) for name in names]
    few = options.quick or ranks < 4
    return found if few else [*found, *(("random-bisection", options.seed + index) for index in range(3))]


def _matrix_parameters(options: PairsOptions, size: int) -> Parameters:
    is_latency, quick = size <= LARGEST_OF_LATENCY, options.quick
    loops, measurements = (16, 3) if quick else (64, 5)
    if not is_latency:
        loops, measurements = max(4, min(64, _IN_FLIGHT_BYTES // (2 if quick else 1) // size)), 2
        loops = max(1, min(loops, _MOST_IN_FLIGHT_BYTES // size))
    every = every_of(_ends_of(options))
    return {
        "between": options.between or "ranks",
        "traffic": "ping-pong" if is_latency else "one-way",
        "at_once": not options.one_at_a_time,
        "message_bytes": size,
        "loops": loops,
        "measurements": measurements,
        "pages": options.pages,
        **({} if every == 1 else {"every": every}),
    }


def _case(workload: str, parameters: Parameters, layout: Layout, engine_context: EngineContext) -> KernelCase:
    pattern = f"pairs of {parameters['between']}" if workload == MATRIX else str(parameters["pattern"])
    words = (workload, pattern, format_bytes(count_of(parameters, "message_bytes")), str(layout.ranks))
    seconds = _AROUND_S + (_matrix_s if workload == MATRIX else _exchange_s)(parameters, layout)
    return kernel_case(workload, parameters, MPI, words, engine_context.description, seconds=seconds, layout=layout)


def _matrix_s(parameters: Parameters, layout: Layout) -> float:
    all_ends = (layout.nodes or 1) if parameters["between"] == "nodes" else layout.ranks
    ends = -(-all_ends // every_of(all_ends))
    turns = 2 * ends if parameters["at_once"] else ends * (ends - 1)
    message_s = _ASSUMED_LATENCY_S + count_of(parameters, "message_bytes") / _ASSUMED_RATE
    ways = 2 if parameters["traffic"] == "ping-pong" else 1
    messages = (1 + count_of(parameters, "loops")) * ways * count_of(parameters, "measurements")
    return turns * messages * message_s


def _exchange_s(parameters: Parameters, layout: Layout) -> float:
    """Estimate the seconds of an exchange.

    A window holds at least one iteration, with as many messages as there are ranks in the worst case.
    """
    iteration_s = layout.ranks * count_of(parameters, "message_bytes") / _ASSUMED_RATE
    windows, window_s, warm_up_s = (float(str(parameters[name])) for name in ("windows", "window_s", "warm_up_s"))
    return warm_up_s + windows * max(window_s, iteration_s)


_MOST_WEIGHT: Final = 1024
_FORM: Final = "a line is FROM TO [WEIGHT]"


@dataclass(frozen=True, slots=True)
class PatternFile:
    """A communication pattern that the user wrote: sender, receiver and messages an iteration, in its order."""

    links: tuple[tuple[int, int, int], ...]
    sha256: str

    @property
    def messages(self) -> int:
        """The number of messages of all ranks in an iteration."""
        return sum(weight for _, _, weight in self.links)


def read_pattern(path: Path, ranks: int) -> PatternFile:
    """Read the links of a pattern file; raise ``UserError`` with the line of the first mistake."""
    data = content_of(path, "name a file of lines FROM TO [WEIGHT]", f"--pattern {path}", TABLE_BYTES)
    links: dict[tuple[int, int], int] = {}
    for number, line in enumerate(as_text(data, f"--pattern {path}").split("\n"), start=1):
        if words := line.partition("#")[0].split():
            try:
                sender, receiver, weight = _link(words, ranks, links)
            except ValueError as error:
                raise UserError(f"line {number}: {error}", f"--pattern {path}", _FORM) from error
            links[sender, receiver] = weight
    if not links:
        raise UserError("no link in it", f"--pattern {path}", _FORM)
    return PatternFile(tuple((*ends, weight) for ends, weight in links.items()), hashlib.sha256(data).hexdigest())


def _link(words: list[str], ranks: int, known: Container[tuple[int, int]]) -> tuple[int, int, int]:
    """Read one link (sender, receiver, weight); raise ``ValueError`` with what is wrong."""
    bad = next((word for word in words[:3] if not (word.isascii() and word.isdigit())), None)
    if bad is not None:
        raise ValueError(f"'{bad}' is not a whole number")
    if not 2 <= len(words) <= 3:
        raise ValueError("no rank to send to" if len(words) < 2 else "more than three words")
    from_, to, weight = [*map(int, words), 1][:3]
    outside = next((rank for rank in (from_, to) if rank >= ranks), None)
    if outside is not None:
        raise ValueError(f"rank {outside} of {ranks} ranks")
    if from_ == to:
        raise ValueError(f"rank {from_} sends to itself")
    if not 1 <= weight <= _MOST_WEIGHT:
        raise ValueError(f"a weight from 1 to {_MOST_WEIGHT} is allowed")
    if (from_, to) in known:
        raise ValueError("this link is given twice")
    return from_, to, weight
