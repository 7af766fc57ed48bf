# SPDX-License-Identifier: Apache-2.0
"""A stepfile run that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.model.request import Request
from ullage.runs.cells.costs import Basis, Costs, PlaceCost, assumed
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Note
from ullage.runs.suite import Explanation
from ullage.suites.stepfile.cells import StepCell, make_cells, with_kinds
from ullage.suites.stepfile.like import CASES, scale_text
from ullage.suites.stepfile.options import StepfileOptions
from ullage.suites.stepfile.revolve import recomputations
from ullage.units import format_bytes, format_time, format_volume

_HEADERS: Final = ["target", "backend", "ranks", "layout", "order", "states", "data", "files", "takes about", "case"]
# Before anything was measured, a file is assumed to take so long to be made, opened and closed.
_ASSUMED_FILE_S: Final = 1e-4


@dataclass(frozen=True)
class PreparedStepfile(PreparedCells):
    """See ``Prepared``."""

    def costs(self, cells: Sequence[Cell]) -> Costs:
        """See ``PreparedCells``: computation takes its time too."""
        basis = assumed(cells, self.machine.places)
        places = {
            cell.place: PlaceCost(seconds_besides_bytes(cast("StepCell", cell)), basis.places[cell.place].s_per_byte)
            for cell in cells
        }
        return Costs(Basis(places, basis.launch_s, basis.text))

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        costs = self.costs(self.cells)
        usual = super().explain()
        rows = [_row(cast("StepCell", cell), costs) for cell in self.cells]
        return Explanation(usual.head, list(_HEADERS), rows, usual.tail[1:])


def seconds_besides_bytes(cell: StepCell) -> float:
    """Return the assumed time of a repetition that does not grow with the bytes."""
    computed_s = cell.compute_s
    if cell.kept < cell.steps:
        again = recomputations(cell.steps, cell.kept)
        computed_s *= (2 * cell.steps + again) / (2 * cell.steps)
    return 0.01 + computed_s + cell.files * _ASSUMED_FILE_S


def _row(cell: StepCell, costs: Costs) -> list[str]:
    parameters = cell.parameters
    return [
        cell.target.name,
        cell.case.backend.name,
        str(cell.layout.ranks),
        str(parameters.get("layout", "dir-per-rank")),
        str(parameters.get("order", "reverse")),
        f"{cell.kept} of {format_bytes(cell.block_bytes)}",
        format_volume(cell.dataset_bytes),
        str(cell.files),
        format_time(costs.repetition_s(cell)),
        cell.case.id,
    ]


def prepare_stepfile(request: Request, engine_context: EngineContext) -> PreparedStepfile:
    """Check everything that can be checked without starting anything."""
    options = read_options(StepfileOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    text = f"{options.steps} steps, {format_bytes(options.state_bytes)} a rank and step"
    notes = scale_notes(options, machine.memory.total_bytes)
    prepared = PreparedStepfile(request, options, machine, cells, with_kinds, text, _lines(options, cells), notes)
    prepared.check(cells)
    return prepared


def _lines(options: StepfileOptions, cells: Sequence[StepCell]) -> list[str]:
    lines = [
        "The forward phase computes each step and writes its state. The adjoint reads the states again and computes."
    ]
    for cell in {cell.kept: cell for cell in cells if cell.kept < cell.steps}.values():
        again = recomputations(cell.steps, cell.kept)
        lines.append(
            f"revolve:{cell.kept} keeps {cell.kept} of {cell.steps} states and computes {again} steps again on each "
            "rank."
        )
    if options.delete and any(cell.kept < cell.steps or cell.files == cell.layout.ranks for cell in cells):
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
