# SPDX-License-Identifier: Apache-2.0
"""A run of suite ``tile`` that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.model.request import Request
from ullage.quantity import plural
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Note
from ullage.runs.suite import Explanation
from ullage.suites.tile.cells import TileCell, make_cells, with_kinds
from ullage.suites.tile.options import TileOptions
from ullage.suites.tile.shape import text_of
from ullage.units import format_bytes, format_time, format_volume

_HEADERS: Final = ["target", "backend", "ranks", "tiles", "tile", "calls", "hints", "file", "takes about", "case"]


@dataclass(frozen=True)
class PreparedTile(PreparedCells):
    """See ``Prepared``."""

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        costs = self.costs(self.cells)
        options = cast("TileOptions", self.options)
        names = {tuple(sorted(one.hints.items())): one.name for one in options.hint_sets}
        usual = super().explain()
        rows = [_row(cast("TileCell", cell), costs.repetition_s(cell), names) for cell in self.cells]
        return Explanation(usual.head, list(_HEADERS), rows, usual.tail)


def _row(cell: TileCell, seconds: float, names: dict[tuple[tuple[str, str], ...], str]) -> list[str]:
    tiling, parameters = cell.tiling, cell.case.workload.parameters
    hints = cell.case.backend.parameters.get("hints")
    given = tuple(sorted((key, str(value)) for key, value in hints.items())) if isinstance(hints, dict) else ()
    return [
        cell.target.name,
        cell.case.backend.name,
        str(cell.layout.ranks),
        text_of(tiling.tiles),
        f"{text_of(tiling.tile)} x {tiling.element_bytes} B",
        str(parameters.get("calls", "independent")),
        names.get(given, ""),
        format_volume(tiling.file_bytes),
        format_time(seconds),
        cell.case.id,
    ]


def prepare_tile(request: Request, engine_context: EngineContext) -> PreparedTile:
    """Check everything that can be checked without starting anything."""
    options = read_options(TileOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    text = f"{plural(options.frames, 'frame')}, a tile of {format_bytes(cells[0].block_bytes)} a rank and frame"
    prepared = PreparedTile(request, options, machine, cells, with_kinds, text, _lines(options, cells), _notes(cells))
    prepared.check(cells)
    return prepared


def _lines(options: TileOptions, cells: Sequence[TileCell]) -> list[str]:
    lines = [
        f"{text_of(tiling.tiles)} tiles with overlap {text_of(tiling.overlap)} make a data set of "
        f"{text_of(tiling.data_set)} elements. A frame has "
        f"{tiling.frame_bytes:,} bytes, the file {tiling.file_bytes:,}."
        for tiling in dict.fromkeys(cell.tiling for cell in cells)
    ]
    if any(cell.case.backend.name == "hdf5" for cell in cells):
        lines.append("HDF5 adds its own data to those bytes; the file is checked to have that many at least.")
    if options.sync and "write" in options.access:
        lines.append("The sync after the last frame is in the time of a write.")
    return lines


def _notes(cells: Sequence[TileCell]) -> list[Note]:
    pairs = dict.fromkeys((cell.layout.ranks or 1, cell.tiling.count) for cell in cells)
    return [_surplus(ranks, count) for ranks, count in pairs if ranks > count]


def _surplus(ranks: int, count: int) -> Note:
    alone = ranks == count + 1
    which = f"rank {count} of {ranks} has no tile and waits" if alone else ""
    which = which or f"ranks {count} to {ranks - 1} of {ranks} have no tile and wait"
    return Note("surplus-ranks", which, f"start {plural(count, 'rank')} for {plural(count, 'tile')}")
