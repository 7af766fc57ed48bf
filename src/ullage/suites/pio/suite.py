# SPDX-License-Identifier: Apache-2.0
"""Suite ``pio``: what a run does, and its rows."""

from collections.abc import Mapping, Sequence
from typing import Final

from ullage.model.plan import Scalar
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.ceilings import with_ceilings
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import DATA, PHASES, PLACE, Columns, PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows, usual
from ullage.suites.pio.cells import (
    DEFAULTS,
    calls_of,
    is_collective,
    make_cells,
    number,
    pattern_of,
    with_sizes,
)
from ullage.suites.pio.findings import findings_of
from ullage.suites.pio.hint_findings import ignored_hints
from ullage.suites.pio.options import PioOptions
from ullage.suites.pio.spatial import Spatial
from ullage.units import format_bytes, format_volume

_COLUMNS: Final[Columns] = {
    **PLACE,
    "pattern": pattern_of,
    "request": lambda cell: format_bytes(cell.block_bytes),
    "calls": calls_of,
    "base": lambda cell: format_bytes(count_of(cell.parameters, "base_bytes", 0)),
    **DATA,
    **PHASES,
}
_OF_ENGINE: Final[Mapping[str, str]] = {
    "levels": "levels",
    "inner": "inner_requests",
    "gap": "gap_requests",
    "variables": "variables",
    "record": "record_bytes",
}


def prepare(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(PioOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    text = f"about {format_volume(options.volume)} in an operation, in whole requests of each rank"
    lines = _lines(options, cells)
    prepared = PreparedCells(
        request,
        options,
        machine,
        cells,
        with_sizes,
        text,
        lines,
        [],
        _COLUMNS,
        shares_less="use --pattern sequential-own",
    )
    prepared.check(cells)
    return prepared


def _lines(options: PioOptions, cells: Sequence[Cell]) -> list[str]:
    lines = ["Each case writes its file first; what writes is synced within the time."]
    asked = {one.name for one in options.spatials if "collective" in (one.calls or [])}
    measured = {pattern_of(cell) for cell in cells if calls_of(cell) == "collective"}
    left_out = [name for name in sorted(asked) if name not in measured]
    if left_out:
        lines.append(
            f"Not available: collective calls of {', '.join(left_out)}. They need one file of all ranks and "
            "backend hdf5, or mpiio and vertices in the order of the file."
        )
    if any(one.name == "sequential-shared" for one in options.spatials):
        lines.append("Pattern sequential-shared is only read: all ranks own all its bytes.")
    return lines


# -- rows --------------------------------------------------------------------------------------------------------------


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    spatials = read_options(PioOptions, request).spatials

    def tell(row: Row, source: Source) -> Mapping[str, Scalar] | None:
        return _told(row, source, spatials)

    launches = launches_of(result)
    rows = with_ceilings(told_rows(launches, context, tell), request.targets, None)
    return summary_of(
        launches, context, rows, lambda sound, level: [*findings_of(sound, level), *ignored_hints(launches)]
    )


def _told(row: Row, source: Source, spatials: Sequence[Spatial]) -> Mapping[str, Scalar] | None:
    """Return None for operations that were not asked for: what only made a file is left out."""
    parameters = source.workload
    spatial = next((one for one in spatials if is_of(one, parameters)), None)
    access = str(row.params["access"])
    if spatial is not None and spatial.operation is not None and access not in spatial.operation:
        return None
    name = str(parameters.get("pattern", "simple-strided"))
    if name == "sequential-shared" and access == "write":
        return None
    collective = is_collective(parameters, source.case.backend_parameters)
    return {
        "access": access,
        "pattern": name if spatial is None else spatial.title,
        "block_bytes": number(parameters, "request_bytes"),
        "calls": "collective" if collective else "independent",
        "base_bytes": count_of(parameters, "base_bytes", 0),
        **usual(row, "ranks", "nodes", "backend"),
    }


def is_of(spatial: Spatial, parameters: Mapping[str, object]) -> bool:
    """Tell whether a case with these parameters of the workload is of ``spatial``."""
    if parameters.get("pattern", "simple-strided") != spatial.name:
        return False
    for name, of_engine in _OF_ENGINE.items():
        wanted = getattr(spatial, name)
        if wanted is not None and count_of(parameters, of_engine, DEFAULTS[of_engine]) != wanted:
            return False
    if spatial.unsorted is not None and parameters.get("sorted", True) == spatial.unsorted:
        return False
    return count_of(parameters, "tiles_x", 0) == (spatial.tiles_x or 0)
