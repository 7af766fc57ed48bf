# SPDX-License-Identifier: Apache-2.0
"""Suite ``flash``: its cases (formats, transfers, ranks, files, sizes of a block), its rows and sentences."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, cast

from ullage.analysis.findings.alike import Faster
from ullage.analysis.findings.phrasing import level_of_part, noun
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Scalar, Target
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.parameters import count_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.cells.formats import hdf5_left_out, ways_of_formats
from ullage.runs.cells.planning import Cell, Sizes, cell_of, each_once, sized
from ullage.runs.cells.prepared import PLACE, Columns, PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.options.settings import check_settings, parameters_for
from ullage.runs.room import checked_machine
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows, usual
from ullage.suites.flash.formula import HEADER_BYTES, FlashFile, blocks_of, data_bytes, total_blocks
from ullage.suites.flash.options import FlashOptions
from ullage.units import format_bytes, format_volume

WORKLOAD: Final = "flash"


# -- cases -------------------------------------------------------------------------------------------------------------


def _file(parameters: Parameters) -> FlashFile:
    return cast("FlashFile", str(parameters.get("file", "checkpoint")))


def _cells_of_a_block(parameters: Parameters) -> int:
    return count_of(parameters, "cells", 8)


def _access(is_collective: object) -> str:
    return "collective" if is_collective else "independent"


def _blocks(cell: Cell) -> int:
    return total_blocks(cell.layout.ranks, count_of(cell.parameters, "blocks", 0))


def _sizes(cell: Cell) -> Sizes:
    """Return the sizes of a file; a call moves the first rank's part of one unknown."""
    parameters = cell.parameters
    file, cells = _file(parameters), _cells_of_a_block(parameters)
    plot_real = count_of(parameters, "plot_real_bytes", 4)
    real = 8 if file == "checkpoint" else plot_real
    points = (cells + (file == "plot-corner")) ** 3
    return Sizes(
        kind=f"{cell.layout.ranks} ranks {_access(cell.is_collective)}",
        block_bytes=blocks_of(0, count_of(parameters, "blocks", 0)) * points * real,
        dataset_bytes=HEADER_BYTES + data_bytes(file, cells, _blocks(cell), plot_real),
    )


with_sizes: Final = sized(_sizes)


def make_cells(
    options: FlashOptions, targets: Sequence[Target], description: Describe, cores: int | None
) -> list[Cell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    layouts = [options.place(n, cores) for n in options.ranks]
    ways = {target.name: ways_of_formats(target, options.formats, options.transfers, description) for target in targets}
    backends = sorted({backend.name for some in ways.values() for backend, _ in some})
    check_settings(options.parameters, backends, {f"{name}.collective": "--access" for name in backends})
    cells = [
        _cell(target, way, layout, options, what, description)
        for layout in layouts
        for target in targets
        for way in ways[target.name]
        for what in itertools.product(options.files, options.cells)
    ]
    return with_sizes(each_once(cells))


def _cell(
    target: Target,
    way: tuple[Registered, bool],
    layout: Layout,
    options: FlashOptions,
    what: tuple[str, int],
    description: Describe,
) -> Cell:
    backend, collective = way
    holds_data = "data" in backend.capabilities
    given: Parameters = {
        **options.of_engine(),
        "file": what[0],
        "cells": what[1],
        "format": "arrays" if "arrays" in backend.capabilities else "raw",
        "cache": options.cache if holds_data else "none",
        "verify": "full" if holds_data else "none",
    }
    own = parameters_for(options.parameters, backend)
    if collective:
        own["collective"] = True
    return cell_of(target, layout, (backend.name, own), (WORKLOAD, given), description)


# -- what a run does ---------------------------------------------------------------------------------------------------

_COLUMNS: Final[Columns] = {
    "target": PLACE["target"],
    "backend": PLACE["backend"],
    "access": lambda cell: _access(cell.is_collective),
    "ranks": PLACE["ranks"],
    "file": lambda cell: _file(cell.parameters),
    "cells": lambda cell: f"{_cells_of_a_block(cell.parameters)}^3",
    "blocks": lambda cell: str(_blocks(cell)),
    "bytes": lambda cell: format_volume(cell.dataset_bytes),
    "a call": lambda cell: format_bytes(cell.block_bytes),
}


def prepare(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(FlashOptions, request)
    machine = checked_machine(request.targets)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    blocks = f"{options.blocks} blocks a rank" if options.blocks else "80 + (rank mod 3) blocks a rank"
    notes = hdf5_left_out(options.formats, engine_context.description)
    return PreparedCells(request, options, machine, cells, with_sizes, blocks, _lines(cells), notes, _COLUMNS).checked()


def _lines(cells: Sequence[Cell]) -> list[str]:
    files = ", ".join(dict.fromkeys(_file(cell.parameters) for cell in cells))
    return [f"All ranks write one file ({files}) and read their own blocks again. PnetCDF is not built."]


# -- rows --------------------------------------------------------------------------------------------------------------


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = launches_of(result)
    return summary_of(launches, context, told_rows(launches, context, _tell), findings_of)


def _tell(row: Row, source: Source) -> Mapping[str, Scalar]:
    parameters = source.workload
    return {
        **usual(row, "access", "ranks", "nodes", "backend"),
        "file": _file(parameters),
        "cells": _cells_of_a_block(parameters),
        "blocks": count_of(parameters, "blocks", 0),
        "format": "raw" if parameters.get("format", "raw") == "raw" else row.word("backend"),
        "transfers": _access(source.case.backend_parameters.get("collective")),
    }


# -- sentences ---------------------------------------------------------------------------------------------------------

_QUESTIONS: Final = tuple(
    Faster(
        f"flash-{option.removeprefix('--')}",
        param,
        option,
        title="{target}: {what} are faster with {way}",
        text="With {ranks} ({target}, {what}), {way} reach {value}, and {other_way} reach {other_value}.",
        way=way,
        gained="{Way} reach {factor} the rate of {other_way}.",
        untold=("{target}: no gain of {way} is shown ({what})", "{which} is faster cannot be told."),
        goes_with=goes_with,
        numbers={"access": "access"},
    )
    for option, param, way, goes_with in (
        ("--access", "transfers", "{transfers} transfers", ()),
        ("--format", "format", "{format} files", ("backend",)),
    )
)


def findings_of(rows: Iterable[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones. Each question has its part of the error of a report."""
    rates = [row for row in rows if row.metric == "bandwidth" and not row.is_invalid]
    own = level_of_part(level, len(_QUESTIONS))
    return [found for asked in _QUESTIONS for found in asked.findings(rates, own, partial(_words, param=asked.param))]


def _words(row: Row, param: str) -> Mapping[str, str]:
    """Name what is the same in all rows: ``collective checkpoint writes of 8^3 cells``."""
    other = row.word("format" if param == "transfers" else "transfers")
    return {"what": f"{other} {row.params['file']} {noun(row.access)} of {row.params['cells']}^3 cells"}
