# SPDX-License-Identifier: Apache-2.0
"""The cells of an io_bench, checked against engine and machine: three orders by records, on one rank."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from ullage.engine import find_registered, validate_parameters
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import choose_binding
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Named, Parameters, Target
from ullage.model.request import Request
from ullage.runs.cells.planning import Cell, make_cell
from ullage.runs.cells.prepare import read_machine
from ullage.runs.cells.room import check_places
from ullage.runs.cells.settings import WORKLOAD, Way
from ullage.runs.options.reading import read_options
from ullage.runs.suite import EngineContext
from ullage.suites.disk.direct import DirectIo, direct_io
from ullage.suites.disk.prepare import Note
from ullage.suites.io_bench.options import FEWEST, MOST, IoBenchOptions
from ullage.suites.matrix.prepare import PreparedCells
from ullage.units import format_bytes
from ullage.uri import target_path, target_scheme

ORDERS: Final = ("sequential", "random", "backward")


def file_bytes(options: IoBenchOptions, record: int) -> int:
    """Whole records: as many as the volume holds, 8 at least and 2048 at most."""
    return record * max(FEWEST, min(MOST, options.volume // record))


@dataclass(frozen=True)
class Spot:
    """A target and what its direct I/O allows."""

    target: Target
    direct: DirectIo

    def fits(self, size: int) -> int:
        """``size``, rounded up to what direct I/O serves."""
        unit = self.direct.alignment_bytes
        return -(-size // unit) * unit


def make_cells(options: IoBenchOptions, spots: Iterable[Spot], description: Describe, cores: int | None) -> list[Cell]:
    """Every combination of target, order and record, each once."""
    binding = "none" if cores is None else choose_binding(1, 1, cores)
    layout = Layout(ranks=1, nodes=1, ranks_per_node=1, binding=binding)
    cells: dict[str, Cell] = {}
    for spot in spots:
        for order in ORDERS:
            way = _way(spot, order, options.backend, description)
            for record in dict.fromkeys(map(spot.fits, options.records)):
                cell = make_cell(way, layout, record, file_bytes(options, record))
                cells.setdefault(cell.case.id, replace(cell, kind=_kind(cell)))
    return list(cells.values())


def _way(spot: Spot, order: str, backend: str, description: Describe) -> Way:
    own: Parameters = {"direct": True} if spot.direct.served else {}
    workload: Parameters = {
        "phases": ["write", "read"],
        "file_mode": "per-process",
        "order": order,
        "cache": "none" if spot.direct.served else "advise",
    }
    named = Named(name=backend, parameters=validate_parameters(description, "backend", backend, own))
    return Way(spot.target, named, validate_parameters(description, "workload", WORKLOAD, workload))


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
    for target in request.targets:
        if target_path(target) is None:
            what = f"target '{target.name}' has no place for files ({target_scheme(target)}:)"
            raise UserError(what, "--target", "write NAME=PATH", EXIT_BAD_INPUT)
    machine = read_machine(request.targets, 1)
    check_places(machine.places)
    places = {target.name: target_path(target) for target in request.targets}
    spots = [
        Spot(target, DirectIo(served=False) if (place := places[target.name]) is None else direct_io(place))
        for target in request.targets
    ]
    cells = make_cells(options, spots, engine_context.description, machine.cores)
    text = f"files of {format_bytes(options.volume)}, but {FEWEST} records at least and {MOST} at most"
    notes = [note for spot in spots for note in _notes(spot, options)]
    lines = ["One rank with a file of its own; a write makes a new file in the order of its case."]
    prepared = PreparedCells(request, options, machine, cells, with_kinds, text, lines, notes)
    prepared.check(cells)
    return prepared


def _notes(spot: Spot, options: IoBenchOptions) -> list[Note]:
    name = spot.target.name
    if not spot.direct.served:
        text = f"target '{name}' refuses direct I/O (O_DIRECT): it is measured through the page cache"
        return [Note("page-cache", text, "take a volume larger than memory, or read the verdict of each row")]
    odd = [record for record in options.records if spot.fits(record) != record]
    if not odd:
        return []
    changed = ", ".join(f"{format_bytes(size)} became {format_bytes(spot.fits(size))}" for size in odd)
    unit = format_bytes(spot.direct.alignment_bytes)
    text = f"direct I/O at target '{name}' moves multiples of {unit} only: {changed}"
    return [Note("size-aligned", text, f"name sizes that are multiples of {unit}")]
