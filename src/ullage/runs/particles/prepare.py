# SPDX-License-Identifier: Apache-2.0
"""A run over particle files that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.model.describe import Describe
from ullage.model.plan import Limits
from ullage.model.request import Request
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.cells.volume import check_files
from ullage.runs.inputs import EngineContext
from ullage.runs.particles.cells import ParticleCell, WorkloadSettings, make_cells, with_kinds
from ullage.runs.particles.options import ParticleOptions
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Note
from ullage.runs.suite import Explanation
from ullage.units import format_time, format_volume

_HEADERS: Final = [
    "target",
    "backend",
    "access",
    "ranks",
    "layout",
    "read",
    "particles a rank",
    "steps",
    "bytes",
    "time",
    "case",
]


@dataclass(frozen=True)
class PreparedParticles(PreparedCells):
    """See ``Prepared``."""

    def check(self, cells: Sequence[Cell]) -> None:
        """See ``PreparedCells``; raise ``UserError`` (exit code 3) for want of inodes, too."""
        super().check(cells)
        limits = Limits(space_bytes=self.options.space)
        check_files(cells, self.machine.places, limits, "remove files there, or name another target")

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        costs, usual = self.costs(self.cells), super().explain()
        rows = [_row(cast("ParticleCell", cell), format_time(costs.repetition_s(cell))) for cell in self.cells]
        return Explanation(usual.head, list(_HEADERS), rows, usual.tail)


def _row(cell: ParticleCell, time: str) -> list[str]:
    return [
        cell.target.name,
        cell.case.backend.name,
        "collective" if cell.is_collective else "independent",
        str(cell.layout.ranks),
        cell.layout_name,
        str(cell.parameters.get("read", "full")) if "read" in cell.phases else "-",
        str(cell.particles),
        str(cell.steps),
        format_volume(cell.dataset_bytes),
        time,
        cell.case.id,
    ]


def prepare_particles(
    request: Request,
    engine_context: EngineContext,
    options: ParticleOptions,
    asked: WorkloadSettings,
    lines: Sequence[str],
) -> PreparedParticles:
    """Check everything that can be checked without starting anything. ``lines``: what else the plan does."""
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, asked, request.targets, engine_context.description, machine.cores)
    text = f"{options.particles} particles of 32 bytes a rank, {options.steps} steps"
    notes = _notes(options, engine_context.description)
    prepared = PreparedParticles(request, options, machine, cells, with_kinds, text, lines, notes)
    prepared.check(cells)
    return prepared


def _notes(options: ParticleOptions, description: Describe) -> list[Note]:
    hdf5 = next((one for one in description.backends if one.name == "hdf5"), None)
    if "hdf5" in options.formats or hdf5 is None or not hdf5.available:
        return []
    return [Note("hdf5-left-out", "HDF5 is there and was not measured", "add --format raw,hdf5")]
