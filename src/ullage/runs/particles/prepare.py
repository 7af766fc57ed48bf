# SPDX-License-Identifier: Apache-2.0
"""A run over particle files that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Sequence
from typing import Final

from ullage.model.describe import Describe
from ullage.model.request import Request
from ullage.runs.cells.prepared import DATA, PLACE, Columns, PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.particles.cells import (
    WorkloadSettings,
    access_of,
    layout_name,
    make_cells,
    particles_of,
    steps_of,
    with_sizes,
)
from ullage.runs.particles.options import ParticleOptions
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Note

_COLUMNS: Final[Columns] = {
    "target": PLACE["target"],
    "backend": PLACE["backend"],
    "access": access_of,
    "ranks": PLACE["ranks"],
    "layout": lambda cell: layout_name(cell.parameters),
    "read": lambda cell: str(cell.parameters.get("read", "full")) if "read" in cell.phases else "-",
    "particles a rank": lambda cell: str(particles_of(cell)),
    "steps": lambda cell: str(steps_of(cell)),
    "bytes": DATA["data"],
}


def prepare_particles(
    request: Request,
    engine_context: EngineContext,
    options: ParticleOptions,
    asked: WorkloadSettings,
    lines: Sequence[str],
) -> PreparedCells:
    """Check everything that can be checked without starting anything. ``lines``: what else the plan does."""
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, asked, request.targets, engine_context.description, machine.cores)
    text = f"{options.particles} particles of 32 bytes a rank, {options.steps} steps"
    notes = _notes(options, engine_context.description)
    prepared = PreparedCells(
        request,
        options,
        machine,
        cells,
        with_sizes,
        text,
        lines,
        notes,
        _COLUMNS,
        fewer_files="remove files there, or name another target",
    )
    prepared.check(cells)
    return prepared


def _notes(options: ParticleOptions, description: Describe) -> list[Note]:
    hdf5 = next((one for one in description.backends if one.name == "hdf5"), None)
    if "hdf5" in options.formats or hdf5 is None or not hdf5.available:
        return []
    return [Note("hdf5-left-out", "HDF5 is there and was not measured", "add --format raw,hdf5")]
