# SPDX-License-Identifier: Apache-2.0
"""Suite ``overlap``: its cases (places, methods of the backends, sizes and depths), what a run does, and its rows."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.engine import find_registered, registered
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import with_helpers
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Scalar, Target
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.model.system import Place
from ullage.parameters import count_of
from ullage.quantity import plural
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.cells.costs import Basis, PlaceCost, assumed
from ullage.runs.cells.direct import DirectIo, direct_at
from ullage.runs.cells.planning import Cell, Sizes, cell_of, each_once, sized
from ullage.runs.cells.prepared import DATA, PHASES, PLACE, Columns, PreparedCells, backend_text
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import checked_machine
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows, usual
from ullage.suites.overlap.findings import findings_of
from ullage.suites.overlap.options import METHODS, Method, OverlapOptions
from ullage.units import format_bytes, format_volume
from ullage.uri import target_path, target_scheme

# -- cases -------------------------------------------------------------------------------------------------------------

WORKLOAD: Final = "overlap"
# As the engine has them.
_SIZE: Final = 1 << 20
DEPTH: Final = 4
BATCHES: Final = 4
_ROUNDS: Final = 4
_WARM_UPS: Final = 2
_MOVING: Final = 3
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


def method_of(cell: Cell) -> str:
    """Return who moves the data."""
    return str(cell.parameters.get("method", "threads"))


def depth_of(cell: Cell) -> int:
    """Return the transfers of a batch."""
    return count_of(cell.parameters, "depth", DEPTH)


def stretch_bytes(cell: Cell) -> int:
    """Return the bytes of a rank between two readings of the clock."""
    size = count_of(cell.parameters, "transfer_bytes", _SIZE)
    return size * depth_of(cell) * count_of(cell.parameters, "batches", BATCHES)


def _sizes(cell: Cell) -> Sizes:
    """Return the sizes of a case: of each round three stretches move data, and the warm-ups before them."""
    size, ranks = count_of(cell.parameters, "transfer_bytes", _SIZE), cell.layout.ranks
    areas = _WARM_UPS + _MOVING * count_of(cell.parameters, "rounds", _ROUNDS)
    return Sizes(
        kind=f"{method_of(cell)}, {ranks} ranks, {size} x {depth_of(cell)}",
        block_bytes=size,
        dataset_bytes=ranks * areas * stretch_bytes(cell),
        files=ranks,
        phases=["write"] if cell.parameters.get("read") is False else ["write", "read"],
        needs_one_folder=False,
    )


with_sizes: Final = sized(_sizes)


@dataclass(frozen=True)
class Missing:
    """What was asked for and cannot be measured: a backend, with one method or at all."""

    target: str
    backend: str
    method: str
    reason: str


@dataclass(frozen=True)
class Cells:
    """All cases, and what has none."""

    cells: list[Cell]
    missing: list[Missing]


def make_cells(
    options: OverlapOptions, targets: Sequence[Target], description: Describe, cores: int | None, *, direct: set[str]
) -> Cells:
    """Return every combination that a backend has a way for, each once.

    ``direct``: names of targets that serve O_DIRECT. Raise ``UserError`` where nothing can be measured.
    """
    layouts = [_placed(ranks, options, cores) for ranks in options.ranks]
    cells: list[Cell] = []
    missing: list[Missing] = []
    for target in targets:
        for name in options.backends if target_path(target) is not None else [target_scheme(target)]:
            found = _known(description, name)
            ways, lacking = _ways(options, target, found)
            missing += lacking
            if not ways:
                continue
            backend = name, _backend_parameters(options, found, is_direct=target.name in direct)
            for layout, method, size, depth in itertools.product(layouts, ways, options.sizes, options.depths):
                if depth > most_at_once(found, method):
                    continue
                workload = _workload(options, found, method, (size, depth))
                cells.append(cell_of(target, layout, backend, (WORKLOAD, workload), description))
    if not cells:
        why = "; ".join(f"{item.backend}: {item.reason}" for item in missing)
        raise UserError(f"nothing can be measured ({why})", "--backend", "name other backends", EXIT_BAD_INPUT)
    return Cells(with_sizes(each_once(cells)), missing)


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


def _ways(options: OverlapOptions, target: Target, backend: Registered) -> tuple[list[Method], list[Missing]]:
    """Return the methods that a backend has, and what it lacks, with the reason.

    A backend that has one of them is not said to lack the other one.
    """
    if not backend.available:
        return [], [Missing(target.name, backend.name, "", backend.reason or "it is not in this build")]
    if target_path(target) is not None and "path" not in backend.capabilities:
        return [], [Missing(target.name, backend.name, "", "it uses no storage; give it a target of its own")]
    ways: list[Method] = [method for method in METHODS if method in options.methods and most_at_once(backend, method)]
    if ways:
        return ways, []
    reasons = " and ".join(_LACKS[method] for method in options.methods)
    return [], [Missing(target.name, backend.name, ", ".join(options.methods), reasons)]


def _placed(ranks: int, options: OverlapOptions, cores: int | None) -> Layout:
    """Place ``ranks``, each bound to the cores that are its own, which its helper threads share.

    On a single core its threads would only work when it does not compute. So it is not bound there.
    """
    layout = options.place(ranks, cores)
    return with_helpers(layout, 1 + min(max(options.depths), _MOST_HELPERS), cores, options.bind)


def _backend_parameters(options: OverlapOptions, backend: Registered, *, is_direct: bool) -> Parameters:
    has_direct = backend.takes(_DIRECT)
    return {_DIRECT: True} if options.cache == _DIRECT and has_direct and is_direct else {}


def _workload(options: OverlapOptions, backend: Registered, method: Method, shape: tuple[int, int]) -> Parameters:
    """Return the parameters of the workload; what holds no data has no cache to drop and nothing to verify."""
    holds_data = "data" in backend.capabilities
    size, depth = shape
    return {
        "method": method,
        "transfer_bytes": size,
        "depth": depth,
        "batches": max(1, options.stretch_bytes // (size * depth)),
        "rounds": options.rounds,
        "tests": options.tests if method == "nonblocking" else 0,
        "computation": options.computation,
        "read": "read" in options.accesses,
        "cache": "none" if options.cache == "none" or not holds_data else "drop",
        "verify": "full" if holds_data else "none",
    }


# -- what a run does ---------------------------------------------------------------------------------------------------

# Three of four stretches move data and three compute as long as data takes: each byte costs its time twice.
_BESIDES: Final = 2.0
_COLUMNS: Final[Columns] = {
    "target": PLACE["target"],
    "backend": backend_text,
    "method": method_of,
    "ranks": PLACE["ranks"],
    "size": lambda cell: format_bytes(cell.block_bytes),
    "depth": lambda cell: str(depth_of(cell)),
    "a stretch": lambda cell: format_volume(stretch_bytes(cell)),
    **PHASES,
    **DATA,
}


def _costs(cells: Sequence[Cell], places: Iterable[Place]) -> Basis:
    """Assume that computation takes its time too."""
    basis = assumed(cells, places)
    each = {place: PlaceCost(cost.fixed_s, _BESIDES * cost.s_per_byte) for place, cost in basis.places.items()}
    return replace(basis, places=each)


def prepare(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(OverlapOptions, request)
    machine = checked_machine(request.targets)
    direct = {target.name: direct_at(target) for target in request.targets if options.cache == "direct"}
    served = {name for name, found in direct.items() if found.served}
    found = make_cells(options, request.targets, engine_context.description, machine.cores, direct=served)
    text = f"about {format_volume(options.stretch_bytes)} of a rank between two readings of the clock"
    notes = [*_page_cache(options, request.targets, direct), *map(_not_available, found.missing)]
    lines = _lines(options, found.cells, machine.cores)
    return PreparedCells(
        request,
        options,
        machine,
        found.cells,
        with_sizes,
        text,
        lines,
        notes,
        _COLUMNS,
        fewer_files="fewer --ranks fit",
        costing=_costs,
    ).checked()


def _not_available(missing: Missing) -> Note:
    method = f" with method {missing.method}" if missing.method else ""
    text = f"not available on target '{missing.target}': backend '{missing.backend}'{method}, because {missing.reason}"
    return Note("not-available", text, "leave it out of --backend, or name another --method")


def _page_cache(options: OverlapOptions, targets: Sequence[Target], direct: dict[str, DirectIo]) -> list[Note]:
    """Return notes on targets with a path where O_DIRECT was asked for and is not served."""
    return [
        note
        for target in targets
        if target.name in direct and target_path(target) is not None
        for note in direct[target.name].notes(target.name, options.sizes)
    ]


def _lines(options: OverlapOptions, cells: Sequence[Cell], cores: int | None) -> list[str]:
    lines = [
        "A batch begins its transfers, computes, and waits for them.",
        "I/O alone, computation alone and blocking calls are measured in turn with it.",
        "The computation is fixed work. Its length is found before, from the I/O of a batch.",
    ]
    for layout in {cell.layout.ranks: cell.layout for cell in cells}.values():
        own = plural(layout.threads, "core")
        if layout.binding == "none":
            shared = f"{plural(layout.ranks, 'rank')} on {plural(cores or 1, 'core')}"
            lines.append(f"With {shared}, helper threads take time of the core that computes.")
        else:
            lines.append(f"Each of {plural(layout.ranks, 'rank')} is bound to {own}, which its helper threads share.")
    if options.cache == "direct" and any(not cell.case.backend.parameters for cell in cells):
        lines.append("Backends without O_DIRECT go through the page cache. Their rows say so.")
    if options.cache == "none" and "read" in options.accesses:
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    return lines


# -- rows --------------------------------------------------------------------------------------------------------------


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = launches_of(result)
    return summary_of(launches, context, told_rows(launches, context, tell), findings_of)


def tell(row: Row, source: Source) -> Mapping[str, "Scalar"]:
    """Return the parameters of a row: with the method, the depth and the cores of a rank."""
    parameters, layout, backend = source.workload, source.run.layout, source.case.backend_parameters
    params: dict[str, Scalar] = {
        **usual(row, "access", "ranks", "nodes", "backend"),
        "method": str(parameters.get("method", "threads")),
        "block_bytes": row.params["block_bytes"],
        "depth": count_of(parameters, "depth", DEPTH),
        "batches": count_of(parameters, "batches", BATCHES),
        # Without a binding the ranks of a node share its cores.
        "cores_of_rank": layout.threads if layout.binding == "core" else 1,
    }
    if tests := count_of(parameters, "tests", 0):
        params["tests"] = tests
    if "direct" in backend:
        params["direct"] = bool(backend["direct"])
    return params
