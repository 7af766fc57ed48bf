# SPDX-License-Identifier: Apache-2.0
"""A run of suite ``sar`` that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.model.plan import Limits
from ullage.model.request import Request
from ullage.quantity import plural
from ullage.runs.cells.costs import Basis, Costs, PlaceCost, assumed
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.cells.volume import check_files
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, check_places, this_machine
from ullage.runs.session import Note
from ullage.runs.suite import Explanation
from ullage.suites.sar.cells import SarCell, make_cells, with_kinds
from ullage.suites.sar.options import SarOptions
from ullage.suites.sar.shape import SarShape
from ullage.units import format_bytes, format_time, format_volume

_HEADERS: Final = ["target", "backend", "ranks", "layout", "images", "data", "files", "takes about", "case"]
# Before anything was measured, a file is assumed to take so long to be made, opened and closed.
_ASSUMED_FILE_S: Final = 1e-4
# As often as the rule of the benchmark has it: what is below that, caches may hold.
_MEMORIES: Final = 3


@dataclass(frozen=True)
class PreparedSar(PreparedCells):
    """See ``Prepared``."""

    @property
    def shares_less(self) -> str:
        """See ``PreparedCells``."""
        return "use --read-back own"

    def check(self, cells: Sequence[Cell]) -> None:
        """See ``PreparedCells``; raise ``UserError`` (exit code 3) for want of inodes, too."""
        super().check(cells)
        check_files(cells, self.machine.places, Limits(space_bytes=self.options.space), "use --layout containers")

    def costs(self, cells: Sequence[Cell]) -> Costs:
        """See ``PreparedCells``: each file takes its time too."""
        basis = assumed(cells, self.machine.places)
        places = {
            cell.place: PlaceCost(0.01 + cell.files * _ASSUMED_FILE_S, basis.places[cell.place].s_per_byte)
            for cell in cells
        }
        return Costs(Basis(places, basis.launch_s, basis.text))

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        costs, usual = self.costs(self.cells), super().explain()
        rows = [_row(cast("SarCell", cell), costs) for cell in self.cells]
        return Explanation(usual.head, list(_HEADERS), rows, usual.tail[1:])


def _row(cell: SarCell, costs: Costs) -> list[str]:
    return [
        cell.target.name,
        cell.case.backend.name,
        str(cell.layout.ranks),
        "containers" if cell.shape.in_containers else "files",
        f"{cell.shape.images:,} of {format_volume(cell.block_bytes)}",
        format_volume(cell.dataset_bytes),
        f"{cell.files:,}",
        format_time(costs.repetition_s(cell)),
        cell.case.id,
    ]


def prepare_sar(request: Request, engine_context: EngineContext) -> PreparedSar:
    """Check everything that can be checked without starting anything."""
    options = read_options(SarOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    shape = cells[0].shape
    grid, each = f"{options.grid} x {options.grid} locations", format_volume(shape.image_bytes)
    text = f"{grid}, {options.depth} images of {each} each"
    lines, notes = _lines(options, shape), _notes(cells, machine)
    prepared = PreparedSar(request, options, machine, cells, with_kinds, text, lines, notes)
    prepared.check(cells)
    return prepared


def _lines(options: SarOptions, shape: SarShape) -> list[str]:
    pairs = shape.locations * (shape.depth - 1)
    run = format_bytes(shape.subimage_side * 4)
    whose = "its own files" if options.read_back == "own" else "files of another node's rank, or of the next rank"
    raws = f"{plural(shape.raw_files, 'raw file')} of {format_volume(shape.raw_bytes)}"
    of_whom = "for all ranks" if shape.raw_is_shared else "for each rank"
    found = f"{plural(shape.subimages, 'sub-image')} of each pair in rows of {run}"
    return [
        f"SDG makes {raws} {of_whom} and {plural(shape.templates, 'template')}.",
        "K1 reads a raw file for each image. K2 stores the images, by time and then in random order of location.",
        f"K3 reads {plural(pairs, 'pair')} of images whole, and {found}. It writes these to a file of detections.",
        "K4 reads them again, with all templates, and writes a record of 64 bytes for each sub-image.",
        f"In K1, K3 and K4, a rank reads {whose}.",
    ]


def _notes(cells: Sequence[SarCell], machine: Machine) -> list[Note]:
    """Return a note where the memory of the nodes can hold what a case keeps."""
    total = machine.memory.total_bytes
    if total is None or all(place.is_memory for place in machine.places):
        return []
    nodes = max(cell.layout.nodes or 1 for cell in cells)
    most = max(cell.dataset_bytes for cell in cells)
    if most >= _MEMORIES * nodes * total:
        return []
    text = (
        f"a case keeps {format_volume(most)}, less than {_MEMORIES} times the memory of {plural(nodes, 'node')}, so "
        "caches may hold a part of it"
    )
    return [Note("volume-below-memory", text, "read the verdict of each row, or use a larger --grid or --depth")]
