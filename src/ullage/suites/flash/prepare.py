# SPDX-License-Identifier: Apache-2.0
"""A flash run that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.model.describe import Describe
from ullage.model.request import Request
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Note
from ullage.runs.suite import Explanation
from ullage.suites.flash.cells import FlashCell, make_cells, with_kinds
from ullage.suites.flash.options import FlashOptions
from ullage.units import format_bytes, format_time, format_volume

_HEADERS: Final = ["target", "backend", "access", "ranks", "file", "cells", "blocks", "bytes", "a call", "time", "case"]


@dataclass(frozen=True)
class PreparedFlash(PreparedCells):
    """See ``Prepared``."""

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        costs = self.costs(self.cells)
        usual = super().explain()
        rows = [_row(cast("FlashCell", cell), format_time(costs.repetition_s(cell))) for cell in with_kinds(self.cells)]
        return Explanation(usual.head, list(_HEADERS), rows, usual.tail)


def _row(cell: FlashCell, time: str) -> list[str]:
    return [
        cell.target.name,
        cell.case.backend.name,
        "collective" if cell.is_collective else "independent",
        str(cell.layout.ranks),
        cell.file,
        f"{cell.cells}^3",
        str(cell.blocks),
        format_volume(cell.dataset_bytes),
        format_bytes(cell.block_bytes),
        time,
        cell.case.id,
    ]


def prepare_flash(request: Request, engine_context: EngineContext) -> PreparedFlash:
    """Check everything that can be checked without starting anything."""
    options = read_options(FlashOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    blocks = f"{options.blocks} blocks a rank" if options.blocks else "80 + (rank mod 3) blocks a rank"
    notes = _notes(options, engine_context.description)
    prepared = PreparedFlash(request, options, machine, cells, with_kinds, blocks, _lines(cells), notes)
    prepared.check(cells)
    return prepared


def _lines(cells: Sequence[Cell]) -> list[str]:
    files = ", ".join(dict.fromkeys(cast("FlashCell", cell).file for cell in cells))
    return [f"All ranks write one file ({files}) and read their own blocks again. PnetCDF is not built."]


def _notes(options: FlashOptions, description: Describe) -> list[Note]:
    hdf5 = next((one for one in description.backends if one.name == "hdf5"), None)
    if "hdf5" in options.formats or hdf5 is None or not hdf5.available:
        return []
    return [Note("hdf5-left-out", "HDF5 is there and was not measured", "add --format raw,hdf5")]
