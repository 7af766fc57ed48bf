# SPDX-License-Identifier: Apache-2.0
"""Suite ``overlap``: what a run does, and its rows: who moves the data, how much at once, on which cores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.model.system import Place
from ullage.parameters import count_of
from ullage.quantity import plural
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.cells.costs import Basis, PlaceCost, assumed
from ullage.runs.cells.direct import DirectIo, direct_at
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import DATA, PHASES, PLACE, Columns, PreparedCells, backend_text
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows, usual
from ullage.suites.overlap.cells import (
    BATCHES,
    DEPTH,
    Missing,
    depth_of,
    make_cells,
    method_of,
    stretch_bytes,
    with_sizes,
)
from ullage.suites.overlap.findings import findings_of
from ullage.suites.overlap.options import OverlapOptions
from ullage.units import format_bytes, format_volume
from ullage.uri import target_path

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

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
    machine = this_machine(request.targets)
    check_places(machine.places)
    direct = {target.name: direct_at(target) for target in request.targets if options.cache == "direct"}
    served = {name for name, found in direct.items() if found.served}
    found = make_cells(options, request.targets, engine_context.description, machine.cores, direct=served)
    text = f"about {format_volume(options.stretch_bytes)} of a rank between two readings of the clock"
    notes = [*_page_cache(options, request.targets, direct), *map(_not_available, found.missing)]
    lines = _lines(options, found.cells, machine.cores)
    prepared = PreparedCells(
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
    )
    prepared.check(found.cells)
    return prepared


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
