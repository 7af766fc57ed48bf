# SPDX-License-Identifier: Apache-2.0
"""A stepfile run that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ullage.model.request import Request
from ullage.model.system import Place
from ullage.runs.cells.costs import Basis, PlaceCost, assumed
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import DATA, PLACE, Columns, PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Note
from ullage.suites.stepfile.cells import compute_s_of, kept_of, make_cells, steps_of, with_sizes
from ullage.suites.stepfile.like import CASES, scale_text
from ullage.suites.stepfile.options import StepfileOptions
from ullage.suites.stepfile.revolve import recomputations
from ullage.units import format_bytes

# Before anything was measured, a file is assumed to take so long to be made, opened and closed.
_ASSUMED_FILE_S: Final = 1e-4


def seconds_besides_bytes(cell: Cell) -> float:
    """Return the assumed time of a repetition that does not grow with the bytes."""
    computed_s, steps, kept = compute_s_of(cell), steps_of(cell), kept_of(cell)
    if kept < steps:
        computed_s *= (2 * steps + recomputations(steps, kept)) / (2 * steps)
    return 0.01 + computed_s + cell.files * _ASSUMED_FILE_S


COLUMNS: Final[Columns] = {
    **PLACE,
    "layout": lambda cell: str(cell.parameters.get("layout", "dir-per-rank")),
    "order": lambda cell: str(cell.parameters.get("order", "reverse")),
    "states": lambda cell: f"{kept_of(cell)} of {format_bytes(cell.block_bytes)}",
    **DATA,
    "files": lambda cell: str(cell.files),
}


def costs_of(cells: Sequence[Cell], places: Iterable[Place]) -> Basis:
    """Assume that computation and files take their time too."""
    basis = assumed(cells, places)
    each = {cell.place: PlaceCost(seconds_besides_bytes(cell), basis.places[cell.place].s_per_byte) for cell in cells}
    return replace(basis, places=each)


def prepare_stepfile(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(StepfileOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    text = f"{options.steps} steps, {format_bytes(options.state_bytes)} a rank and step"
    notes = scale_notes(options, machine.memory.total_bytes)
    lines = _lines(options, cells)
    prepared = PreparedCells(
        request, options, machine, cells, with_sizes, text, lines, notes, COLUMNS, costing=costs_of
    )
    prepared.check(cells)
    return prepared


def _lines(options: StepfileOptions, cells: Sequence[Cell]) -> list[str]:
    lines = [
        "The forward phase computes each step and writes its state. The adjoint reads the states again and computes."
    ]
    for kept, steps in {kept_of(cell): steps_of(cell) for cell in cells if kept_of(cell) < steps_of(cell)}.items():
        again = recomputations(steps, kept)
        lines.append(f"revolve:{kept} keeps {kept} of {steps} states and computes {again} steps again on each rank.")
    if options.delete and any(kept_of(cell) < steps_of(cell) or cell.files == cell.layout.ranks for cell in cells):
        lines.append("Nothing is removed early with layout log or order revolve.")
    return lines


def scale_notes(options: StepfileOptions, memory_bytes: int | None) -> list[Note]:
    """Return a note on the scale of a published case, where one was asked for."""
    case = CASES.get(str(options.like))
    if case is None:
        return []
    ranks = max(options.ranks)
    sentences = scale_text(case, ranks, options.steps, options.state_bytes, memory_bytes)
    text = " ".join(sentences).rstrip(".")
    return [Note("scaled-down", text, "measure at the real number of ranks and files before you rely on it")]
