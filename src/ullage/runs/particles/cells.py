# SPDX-License-Identifier: Apache-2.0
"""The cases of particle files: places, formats, transfers, ranks, layouts and what is read. Pure."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ullage.errors import UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Target
from ullage.model.request import Request
from ullage.parameters import count_of
from ullage.runs.cells.formats import hdf5_left_out, ways_of_formats
from ullage.runs.cells.planning import Cell, Sizes, cell_of, each_once, sized
from ullage.runs.cells.prepared import DATA, PLACE, Columns, PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.particles.findings import layout_name
from ullage.runs.particles.options import LAYOUTS, PARTICLE_BYTES, ParticleOptions
from ullage.runs.room import checked_machine

WORKLOAD: Final = "vpic"
HEADER_BYTES: Final = 4096
"""The header of our own format, before the particles."""
_FULL: Final[Mapping[str, Parameters]] = {"full": {}}


def particles_of(cell: Cell) -> int:
    """Return the particles of a rank."""
    return count_of(cell.parameters, "particles", 8 << 20)


def steps_of(cell: Cell) -> int:
    """Return the time steps in the file."""
    return count_of(cell.parameters, "steps", 5)


def access_of(cell: Cell) -> str:
    """Tell whether transfers are ``collective`` or ``independent``."""
    return "collective" if cell.is_collective else "independent"


def _sizes(cell: Cell) -> Sizes:
    ranks, parameters = cell.layout.ranks, cell.parameters
    return Sizes(
        kind=f"{ranks} ranks {access_of(cell)} {layout_name(parameters)} {parameters.get('read', 'full')}",
        block_bytes=cell.block_bytes,
        dataset_bytes=HEADER_BYTES + ranks * steps_of(cell) * particles_of(cell) * PARTICLE_BYTES,
        phases=cell.phases,
    )


with_sizes: Final = sized(_sizes)


@dataclass(frozen=True)
class WorkloadSettings:
    """What a suite asks of the workload besides the options of both. ``reads``: words with their parameters."""

    phases: list[str]
    parameters: Parameters = field(default_factory=Parameters)
    reads: Mapping[str, Parameters] = field(default_factory=lambda: _FULL)


def make_cells(
    options: ParticleOptions,
    asked: WorkloadSettings,
    targets: Sequence[Target],
    description: Describe,
    cores: int | None,
) -> list[Cell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    layouts = [options.place(n, cores) for n in options.ranks]
    cells = [
        _cell((target, layout), way, options, {**asked.parameters, "phases": asked.phases, **what}, description)
        for layout in layouts
        for target in targets
        for way in ways_of_formats(target, options.formats, options.transfers, description)
        for what in _combinations(options.layouts, asked.reads, way[0])
    ]
    if not cells:
        what = "only backends mpiio and hdf5 convert between the orders of memory and file"
        raise UserError(what, "--layout", "add CC or II, or use a target with a path")
    return with_sizes(each_once(cells))


def _combinations(names: Iterable[str], reads: Mapping[str, Parameters], backend: Registered) -> Iterable[Parameters]:
    converts = bool({"scattered", "arrays"} & {*backend.capabilities})
    for name, (read, sizes) in itertools.product(names, reads.items()):
        memory, file = LAYOUTS[name]
        if memory == file or converts:
            yield {"memory": memory, "file": file, "read": read, **sizes}


def _cell(
    place: tuple[Target, Layout],
    way: tuple[Registered, bool],
    options: ParticleOptions,
    what: Parameters,
    description: Describe,
) -> Cell:
    (target, layout), (backend, collective) = place, way
    holds_data = "data" in backend.capabilities
    given: Parameters = {
        "particles": options.particles,
        "steps": options.steps,
        "compute_s": options.compute_s,
        "format": "arrays" if "arrays" in backend.capabilities else "raw",
        "cache": options.cache if holds_data else "none",
        "verify": "full" if holds_data else "none",
        **what,
    }
    own: Parameters = {"collective": True} if collective else {}
    return cell_of(target, layout, (backend.name, own), (WORKLOAD, given), description)


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
    machine = checked_machine(request.targets)
    cells = make_cells(options, asked, request.targets, engine_context.description, machine.cores)
    text = f"{options.particles} particles of 32 bytes a rank, {options.steps} steps"
    notes = hdf5_left_out(options.formats, engine_context.description)
    return PreparedCells(
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
    ).checked()
