# SPDX-License-Identifier: Apache-2.0
"""Suite ``overlap``: its options, its cases (places, methods of the backends, sizes and depths), and its rows."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from ullage.engine import find_registered, registered
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import with_helpers
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Parameters, Scalar, Target
from ullage.model.summary import Row
from ullage.model.system import Place
from ullage.quantity import plural
from ullage.runs.cells.costs import Basis, PlaceCost, assumed
from ullage.runs.cells.direct import direct_at
from ullage.runs.cells.planning import Cell, Sizing, cell_of
from ullage.runs.cells.prepared import Asked, Preparing, backend_text, plan_columns
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.engine import Values
from ullage.runs.options.groups import StorageOptions, Volume
from ullage.runs.options.kinds import Names, SizeAxis
from ullage.runs.options.model import OptionError
from ullage.runs.session import Note
from ullage.runs.told import Source, summarising, told_rows, usual
from ullage.suites.overlap.findings import findings_of
from ullage.units import format_bytes, format_volume
from ullage.uri import target_path, target_scheme

Method: TypeAlias = Literal["threads", "nonblocking"]

METHODS: Final[tuple[Method, ...]] = ("threads", "nonblocking")
_PAGE: Final = 4096


class OverlapOptions(StorageOptions):
    """The options of suite ``overlap``. ``stretch_bytes``: what a rank moves between two readings of the clock."""

    workload = "overlap"
    metrics = (
        "overlap_share compute_slowdown overlap_gain start_share batch_io_time batch_compute_time batch_both_time "
        "batch_blocking_time io_alone_rate"
    )
    changes = {
        "targets": Change("Keep the files at this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="half of the usable cores, so that each rank has a second core for its helpers"),
        "time_s": Change(usual="10m", quick="30s"),
        "quick": Change("Take a first look in 30 s: two sizes, two depths, 4M in a stretch."),
    }

    sizes: Annotated[
        list[int],
        SizeAxis(8),
        OfEngine("transfer_bytes", name="--size", usual="64K,1M,8M", quick="64K,1M", sets=("block_bytes", "sizes")),
    ]
    depths: Annotated[
        list[Annotated[int, Field(le=64)]], OfEngine("depth", usual="1,4,16", quick="1,4", sets=("depths",))
    ]
    methods: Annotated[list[Method], OfEngine("method", usual="threads,nonblocking")]
    backends: Annotated[
        list[str],
        Names(),
        Option(
            "Use these backends. Each is measured with the methods that it has.",
            name="--backend",
            usual="posix,mpiio,uring",
        ),
    ]
    accesses: Annotated[
        list[Literal["write", "read"]], Option("Measure write, or write and read.", name="--access", usual="write,read")
    ]
    stretch_bytes: Annotated[
        Volume,
        Option(
            "Let a rank move about this much between two readings of the clock, one batch at least.",
            name="--bytes",
            usual="32M",
            quick="4M",
            sets=("volume",),
        ),
    ]
    rounds: Annotated[int, OfEngine()] = 4
    tests: Annotated[int, OfEngine()] = 0
    computation: Annotated[float, OfEngine()] = 1.0
    cache: Annotated[
        Literal["none", "advise", "direct"],
        Option(
            "Treat the page cache: none, advise (drop the data before it is read), or direct (O_DIRECT where the "
            "backend has it, else advise)."
        ),
    ] = "direct"

    @staticmethod
    def usual_ranks(cores: int) -> list[int]:
        """Leave each rank a second core, where there is one."""
        return [max(1, cores // 2)]

    @model_validator(mode="after")
    def _writes_before_it_reads(self) -> Self:
        if "write" not in self.accesses:
            raise OptionError("accesses", "what is read has to be written first", "write write,read")
        return self

    @model_validator(mode="after")
    def _asks_somebody(self) -> Self:
        if self.tests and "nonblocking" not in self.methods:
            raise OptionError("tests", "helper threads are not asked", "add --method nonblocking, or leave --tests out")
        return self

    @model_validator(mode="after")
    def _has_whole_pages(self) -> Self:
        odd = [size for size in self.sizes if size % _PAGE]
        if self.cache == "direct" and odd:
            right = "write multiples of 4K, or --cache advise"
            raise OptionError("sizes", "O_DIRECT moves multiples of 4K", right, str(odd[0]))
        return self


_MOST_HELPERS: Final = 64
_DIRECT: Final = "direct"
# What a backend says of itself for each method, with the most at once behind it.
_CAPABILITIES: Final[dict[Method, str]] = {"threads": "file_threads", "nonblocking": "nonblocking"}
# Only the thread that opened a file may use it, and the rank opens the files.
_THREAD_FILES: Final = "thread_files"
_LACKS: Final[dict[Method, str]] = {
    "threads": "only the thread of the rank may use its files",
    "nonblocking": "it has no call that only begins a transfer",
}


def stretch_bytes(values: Values) -> int:
    """Return the bytes of a rank between two readings of the clock."""
    return values.count("transfer_bytes") * values.count("depth") * values.count("batches")


@dataclass(frozen=True)
class Offer:
    """What a backend has of the methods that were asked for at a target; ``lacking``: why it has none."""

    target: Target
    backend: Registered
    methods: Sequence[Method]
    lacking: str = ""
    of_methods: bool = False


def _offers(options: OverlapOptions, targets: Iterable[Target], description: Describe) -> Iterator[Offer]:
    for target in targets:
        for name in options.backends if target_path(target) is not None else [target_scheme(target)]:
            yield _offer(options, target, _known(description, name))


def _offer(options: OverlapOptions, target: Target, backend: Registered) -> Offer:
    """Return the methods that a backend has. One that has one of them is not said to lack the other one."""
    if not backend.available:
        return Offer(target, backend, [], backend.reason or "it is not in this build")
    if target_path(target) is not None and "path" not in backend.capabilities:
        return Offer(target, backend, [], "it uses no storage; give it a target of its own")
    methods: list[Method] = [name for name in METHODS if name in options.methods and most_at_once(backend, name)]
    lacking = "" if methods else " and ".join(_LACKS[name] for name in options.methods)
    return Offer(target, backend, methods, lacking, of_methods=True)


def _known(description: Describe, name: str) -> Registered:
    """Return the backend, also one that this build lacks; raise ``UserError`` for a word that is none."""
    lacking = [thing for thing in registered(description, "backend") if thing.name == name and not thing.available]
    return lacking[0] if lacking else find_registered(description, "backend", name)


def most_at_once(backend: Registered, method: Method) -> int:
    """Return the most transfers of a file that go on at once by ``method``; 0 where the backend has no such way."""
    if method == "threads" and _THREAD_FILES in backend.capabilities:
        return 0
    most = backend.most(_CAPABILITIES[method], 0)
    return min(most, _MOST_HELPERS) if method == "threads" else most


def make_cells(asked: Asked[OverlapOptions]) -> list[Cell]:
    """Return every combination that a backend has a way for; raise ``UserError`` where nothing can be measured."""
    options = asked.options
    # On a single core helper threads would only work when the rank does not compute: it is not bound there.
    threads = 1 + min(max(options.depths), _MOST_HELPERS)
    layouts = [with_helpers(layout, threads, asked.machine.cores, options.bind) for layout in asked.layouts]
    direct = {target.name for target in asked.targets if options.cache == _DIRECT and direct_at(target).served}
    offers = [*_offers(options, asked.targets, asked.description)]
    cells = [
        cell_of(
            offer.target,
            layout,
            (
                offer.backend.name,
                {_DIRECT: True} if offer.target.name in direct and offer.backend.takes(_DIRECT) else {},
            ),
            ("overlap", _workload(options, offer.backend, method, size, depth)),
            asked.description,
        )
        for offer in offers
        for layout, method, size, depth in itertools.product(layouts, offer.methods, options.sizes, options.depths)
        if depth <= most_at_once(offer.backend, method)
    ]
    if not cells:
        why = "; ".join(f"{offer.backend.name}: {offer.lacking}" for offer in offers if offer.lacking)
        raise UserError(f"nothing can be measured ({why})", "--backend", "name other backends", EXIT_BAD_INPUT)
    return cells


def _workload(options: OverlapOptions, backend: Registered, method: Method, size: int, depth: int) -> Parameters:
    """Return the parameters of the workload; what holds no data has no cache to drop and nothing to verify."""
    holds_data = "data" in backend.capabilities
    return {
        **options.of_engine(),
        "method": method,
        "transfer_bytes": size,
        "depth": depth,
        "batches": max(1, options.stretch_bytes // (size * depth)),
        "tests": options.tests if method == "nonblocking" else 0,
        "read": "read" in options.accesses,
        "cache": "none" if options.cache == "none" or not holds_data else "drop",
        "verify": "full" if holds_data else "none",
    }


# Three of four stretches move data and three compute as long as data takes: each byte costs its time twice.
_BESIDES: Final = 2.0
_COLUMNS: Final = plan_columns(
    "target backend method ranks size depth a_stretch phases data",
    backend=backend_text,
    size=lambda cell: format_bytes(cell.block_bytes),
    a_stretch=lambda cell: format_volume(stretch_bytes(cell.values)),
)


def _costs(cells: Sequence[Cell], places: Iterable[Place]) -> Basis:
    """Assume that computation takes its time too."""
    basis = assumed(cells, places)
    each = {place: PlaceCost(cost.fixed_s, _BESIDES * cost.s_per_byte) for place, cost in basis.places.items()}
    return replace(basis, places=each)


def _notes(asked: Asked[OverlapOptions], _cells: Sequence[Cell]) -> list[Note]:
    options, notes = asked.options, list[Note]()
    for target in asked.targets:
        if options.cache == _DIRECT and target_path(target) is not None:
            notes += direct_at(target).notes(target.name, options.sizes)
    for offer in _offers(options, asked.targets, asked.description):
        if offer.lacking:
            methods = f" with method {', '.join(options.methods)}" if offer.of_methods else ""
            what, where = f"backend '{offer.backend.name}'{methods}", f"target '{offer.target.name}'"
            text = f"not available on {where}: {what}, because {offer.lacking}"
            notes.append(Note("not-available", text, "leave it out of --backend, or name another --method"))
    return notes


def _lines(asked: Asked[OverlapOptions], cells: Sequence[Cell]) -> list[str]:
    options = asked.options
    lines = [
        "A batch begins its transfers, computes, and waits for them.",
        "I/O alone, computation alone and blocking calls are measured in turn with it.",
        "The computation is fixed work. Its length is found before, from the I/O of a batch.",
    ]
    for layout in {cell.layout.ranks: cell.layout for cell in cells}.values():
        own = plural(layout.threads, "core")
        if layout.binding == "none":
            shared = f"{plural(layout.ranks, 'rank')} on {plural(asked.machine.cores or 1, 'core')}"
            lines.append(f"With {shared}, helper threads take time of the core that computes.")
        else:
            lines.append(f"Each of {plural(layout.ranks, 'rank')} is bound to {own}, which its helper threads share.")
    if options.cache == "direct" and any(not cell.case.backend.parameters for cell in cells):
        lines.append("Backends without O_DIRECT go through the page cache. Their rows say so.")
    if options.cache == "none" and "read" in options.accesses:
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    return lines


prepare: Final = Preparing(
    OverlapOptions,
    lambda options, _machine: (
        options,
        f"about {format_volume(options.stretch_bytes)} of a rank between two readings of the clock",
    ),
    make_cells,
    Sizing(
        "method transfer_bytes depth",
        lambda values: values.count("transfer_bytes"),
        lambda values: ("write", "read") if values["read"] else ("write",),
    ),
    _COLUMNS,
    _lines,
    _notes,
    fewer_files="fewer --ranks fit",
    costing=_costs,
)


def tell(row: Row, source: Source) -> Mapping[str, Scalar]:
    """Return the parameters of a row: with the method, the depth and the cores of a rank."""
    values, layout, backend = source.values, source.run.layout, source.case.backend_parameters
    return {
        **usual(row, "access", "ranks", "nodes", "backend"),
        **values.some("method"),
        "block_bytes": row.params["block_bytes"],
        **values.some("depth", "batches"),
        # Without a binding the ranks of a node share its cores.
        "cores_of_rank": layout.threads if layout.binding == "core" else 1,
        **(values.some("tests") if values["tests"] else {}),
        **({"direct": bool(backend["direct"])} if "direct" in backend else {}),
    }


summarise: Final = summarising(lambda launches, context, _request: told_rows(launches, context, tell), findings_of)
