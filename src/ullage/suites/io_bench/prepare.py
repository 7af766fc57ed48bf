# SPDX-License-Identifier: Apache-2.0
"""The cells of an io_bench, checked against engine and machine: three orders by records, on one rank."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ullage.engine import find_registered, validate_parameters
from ullage.launch.base import place_ranks
from ullage.model.describe import Describe
from ullage.model.plan import Named, Parameters, Target
from ullage.model.request import Request
from ullage.runs.cells.direct import DirectIo, direct_at
from ullage.runs.cells.planning import WORKLOAD, Cell, Way, make_cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_paths, check_places, this_machine
from ullage.suites.io_bench.options import FEWEST, MOST, IoBenchOptions
from ullage.units import format_bytes

Spot = tuple[Target, DirectIo]
ORDERS: Final = ("sequential", "random", "backward")


def file_bytes(options: IoBenchOptions, record: int) -> int:
    """Whole records: as many as the volume holds, 8 at least and 2048 at most."""
    return record * max(FEWEST, min(MOST, options.volume // record))


def make_cells(options: IoBenchOptions, spots: Iterable[Spot], description: Describe, cores: int | None) -> list[Cell]:
    """Every combination of target, order and record, each once. ``spots``: targets with their direct I/O."""
    layout = place_ranks(1, 1, 1, cores)
    cells: dict[str, Cell] = {}
    for target, direct in spots:
        for order in ORDERS:
            way = _way(target, direct, order, options.backend, description)
            for record in dict.fromkeys(map(direct.fits, options.records)):
                cell = make_cell(way, layout, record, file_bytes(options, record))
                cells.setdefault(cell.case.id, replace(cell, kind=_kind(cell)))
    return list(cells.values())


def _way(target: Target, direct: DirectIo, order: str, backend: str, description: Describe) -> Way:
    own: Parameters = {"direct": True} if direct.served else {}
    workload: Parameters = {
        "phases": ["write", "read"],
        "file_mode": "per-process",
        "order": order,
        "cache": "none" if direct.served else "advise",
    }
    named = Named(name=backend, parameters=validate_parameters(description, "backend", backend, own))
    return Way(target, named, validate_parameters(description, "workload", WORKLOAD, workload))


def _kind(cell: Cell) -> str:
    """Records differ as much as orders do in what a byte costs."""
    order = cell.case.workload.parameters.get("order", ORDERS[0])
    return f"in {order} order with {format_bytes(cell.block_bytes)}"


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Cells read back from plans, which do not say their kind."""
    return [replace(cell, kind=_kind(cell)) for cell in cells]


def prepare_io_bench(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(IoBenchOptions, request)
    find_registered(engine_context.description, "backend", options.backend)
    check_paths(request.targets)
    machine = this_machine(request.targets)
    check_places(machine.places)
    spots = [(target, direct_at(target)) for target in request.targets]
    cells = make_cells(options, spots, engine_context.description, machine.cores)
    text = f"files of {format_bytes(options.volume)}, but {FEWEST} records at least and {MOST} at most"
    notes = [note for target, direct in spots for note in direct.notes(target.name, options.records)]
    lines = ["One rank with a file of its own; a write makes a new file in the order of its case."]
    prepared = PreparedCells(request, options, machine, cells, with_kinds, text, lines, notes)
    prepared.check(cells)
    return prepared
