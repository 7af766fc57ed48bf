# SPDX-License-Identifier: Apache-2.0
"""Suite ``tile``: its cases (places, ranks, calls and sets of hints), what a run does, and its rows."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Scalar, Target
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.quantity import plural
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, join
from ullage.runs.cells.planning import Cell, Sizes, cell_of, each_once, sized
from ullage.runs.cells.prepared import PLACE, Columns, PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.options.settings import check_settings, parameters_for
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows, usual
from ullage.suites.tile.findings import HintUse, findings_of
from ullage.suites.tile.hints import DEFAULT, TileHints
from ullage.suites.tile.options import Calls, TileOptions
from ullage.suites.tile.shape import Tiling, text_of, tiling_of
from ullage.units import format_bytes, format_volume
from ullage.uri import target_path, target_scheme

WORKLOAD: Final = "tile"


# -- cases -------------------------------------------------------------------------------------------------------------


def _tiling(cell: Cell) -> Tiling:
    return tiling_of(cell.parameters)


def _calls(parameters: Parameters) -> str:
    return str(parameters.get("calls", "independent"))


def _sizes(cell: Cell) -> Sizes:
    """Return the sizes of the tiles of a case: a rank moves one for a frame, and the header is never written."""
    tiling = _tiling(cell)
    words = [f"{cell.layout.ranks} ranks", _calls(cell.parameters)]
    words += [f"{key}={value}" for key, value in cell.case.backend.parameters.items()]
    phases = cell.parameters.get("phases", ["write", "read"])
    return Sizes(
        kind=" ".join(words),
        block_bytes=tiling.tile_bytes,
        dataset_bytes=tiling.frames * tiling.frame_bytes,
        phases=[str(phase) for phase in phases] if isinstance(phases, list) else [],
    )


with_sizes: Final = sized(_sizes)


def make_cells(options: TileOptions, targets: Sequence[Target], description: Describe, cores: int | None) -> list[Cell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    layouts = [options.place(n, cores) for n in options.ranks]
    every = itertools.product(layouts, targets, options.calls, options.hint_sets)
    backends = {
        target.name: find_registered(description, "backend", _backend_of(target, options)) for target in targets
    }
    names = {backend.name for backend in backends.values()}
    taken = [("hints", "--hints"), ("collective", "--calls")]
    check_settings(options.parameters, names, {f"{name}.{key}": option for name in names for key, option in taken})
    cells = [
        _cell(target, layout, options, calls, hints, description)
        for layout, target, calls, hints in every
        if not hints.hints or _has(backends[target.name], "hints")
    ]
    if not cells:
        raise UserError("hints are for backends mpiio and hdf5", "--hints", "add the set default")
    return with_sizes(each_once(cells))


def _has(backend: Registered, parameter: str) -> bool:
    return any(one.name == parameter for one in backend.parameters)


def _backend_of(target: Target, options: TileOptions) -> str:
    return options.backend if target_path(target) is not None else target_scheme(target)


def _cell(
    target: Target, layout: Layout, options: TileOptions, calls: Calls, hints: TileHints, description: Describe
) -> Cell:
    name = _backend_of(target, options)
    found = find_registered(description, "backend", name)
    sees = "views" in found.capabilities
    if not sees and "arrays" not in found.capabilities:
        raise UserError(f"backend '{name}' has neither views of files nor arrays", "--backend", "use mpiio or hdf5")
    if not sees and options.header_bytes:
        raise UserError(f"backend '{name}' places the data itself", "--header", "use --header 0")
    holds_data = "data" in found.capabilities
    tiling = options.tiling(layout.ranks or 1)
    given: Parameters = {
        **tiling.parameters,
        "calls": calls,
        "phases": list(options.access),
        "sync": options.sync,
        "buffers": options.buffers,
        "cache": options.cache if holds_data else "none",
        "verify": options.verify if holds_data else "none",
    }
    own = parameters_for(options.parameters, found)
    if hints.hints:
        own["hints"] = dict(hints.hints)
    if not sees:
        own["collective"] = calls == "collective"
    return cell_of(target, layout, (name, own), (WORKLOAD, given), description)


_UNNAMED: Final = "other"


@dataclass(frozen=True)
class HintNames:
    """What the sets of a request are called."""

    sets: Sequence[TileHints]

    def of(self, case: CaseRecord) -> str:
        """Return the name of the set that a case was given; without a request its hints."""
        return self.of_backend(case.backend_parameters)

    def of_backend(self, parameters: Parameters) -> str:
        """Return the name of the set that a backend with these parameters is given."""
        given = parameters.get("hints")
        hints = {key: str(value) for key, value in given.items()} if isinstance(given, dict) else {}
        if not hints:
            return next((one.name for one in self.sets if not one.hints), DEFAULT)
        return next((one.name for one in self.sets if one.hints == hints), _UNNAMED)


# -- what a run does ---------------------------------------------------------------------------------------------------


def _columns(names: HintNames) -> Columns:
    return {
        **PLACE,
        "tiles": lambda cell: text_of(_tiling(cell).tiles),
        "tile": lambda cell: f"{text_of(_tiling(cell).tile)} x {_tiling(cell).element_bytes} B",
        "calls": lambda cell: _calls(cell.parameters),
        "hints": lambda cell: names.of_backend(cell.case.backend.parameters),
        "file": lambda cell: format_volume(_tiling(cell).file_bytes),
    }


def prepare(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(TileOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    text = f"{plural(options.frames, 'frame')}, a tile of {format_bytes(cells[0].block_bytes)} a rank and frame"
    lines, notes = _lines(options, cells), _notes(cells)
    prepared = PreparedCells(
        request, options, machine, cells, with_sizes, text, lines, notes, _columns(HintNames(options.hint_sets))
    )
    prepared.check(cells)
    return prepared


def _lines(options: TileOptions, cells: Sequence[Cell]) -> list[str]:
    lines = [
        f"{text_of(tiling.tiles)} tiles with overlap {text_of(tiling.overlap)} make a data set of "
        f"{text_of(tiling.data_set)} elements. A frame has "
        f"{tiling.frame_bytes:,} bytes, the file {tiling.file_bytes:,}."
        for tiling in dict.fromkeys(map(_tiling, cells))
    ]
    if any(cell.case.backend.name == "hdf5" for cell in cells):
        lines.append("HDF5 adds its own data to those bytes; the file is checked to have that many at least.")
    if options.sync and "write" in options.access:
        lines.append("The sync after the last frame is in the time of a write.")
    return lines


def _notes(cells: Sequence[Cell]) -> list[Note]:
    pairs = dict.fromkeys((cell.layout.ranks or 1, _tiling(cell).count) for cell in cells)
    return [_surplus(ranks, count) for ranks, count in pairs if ranks > count]


def _surplus(ranks: int, count: int) -> Note:
    alone = ranks == count + 1
    which = f"rank {count} of {ranks} has no tile and waits" if alone else ""
    which = which or f"ranks {count} to {ranks - 1} of {ranks} have no tile and wait"
    return Note("surplus-ranks", which, f"start {plural(count, 'rank')} for {plural(count, 'tile')}")


# -- rows --------------------------------------------------------------------------------------------------------------


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    names = HintNames(read_options(TileOptions, request).hint_sets)

    def tell(row: Row, source: Source) -> Mapping[str, Scalar]:
        return _told(row, source, names)

    launches = launches_of(result)
    rows, uses = told_rows(launches, context, tell), hints_of(launches, names)
    return summary_of(launches, context, rows, lambda sound, level: findings_of(sound, uses, level))


def _told(row: Row, source: Source, names: HintNames) -> Mapping[str, Scalar]:
    tiling = tiling_of(source.workload)
    return {
        **usual(row, "access", "ranks", "nodes"),
        "block_bytes": tiling.tile_bytes,
        "backend": row.params["backend"],
        "tiles": text_of(tiling.tiles),
        "tile": text_of(tiling.tile),
        "overlap": text_of(tiling.overlap),
        "element_bytes": tiling.element_bytes,
        "header_bytes": tiling.header_bytes,
        "frames": tiling.frames,
        "calls": _calls(source.workload),
        "hint_set": names.of(source.case),
    }


def hints_of(launches: Iterable[Iterable[AnyRecord]], names: HintNames) -> dict[tuple[str, str], list[HintUse]]:
    """Return the hints that were given and granted, for each target and set, of all phases."""
    found: dict[tuple[str, str], list[HintUse]] = {}
    for item in join([list(launch) for launch in launches]):
        given: Mapping[str, str] = item.phase.hints_given
        if given:
            key = item.case.target, names.of(item.case)
            found.setdefault(key, []).append(HintUse(given, item.phase.hints_granted, item.run.mpi_io))
    return found
