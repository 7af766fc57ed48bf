# SPDX-License-Identifier: Apache-2.0
"""From the records of suite ``pio`` to its rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, build_rows, join
from ullage.runs.ceilings import with_ceilings
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.pio.cells import DEFAULTS, is_collective
from ullage.suites.pio.findings import findings_of
from ullage.suites.pio.hint_findings import ignored_hints
from ullage.suites.pio.options import PioOptions
from ullage.suites.pio.spatial import Spatial

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_OF_ENGINE: Final[Mapping[str, str]] = {
    "levels": "levels",
    "inner": "inner_requests",
    "gap": "gap_requests",
    "variables": "variables",
    "record": "record_bytes",
}


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(PioOptions, request)
    launches = [list(file.records) for file in result.read_records()]
    rows = with_ceilings(pio_rows(launches, context, options.spatials), request.targets, None)
    found = findings_of(sound_rows(rows), context.level)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found, *ignored_hints(launches)])


def pio_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext, spatials: Sequence[Spatial]) -> list[Row]:
    """Return the rows of the operations that were asked for: what only made a file is left out."""
    records = [list(launch) for launch in launches]
    cases = {item.case.case: item.case for item in join(records)}
    told = (_told(row, cases[row.case], spatials) for row in build_rows(records, context) if row.case in cases)
    return [row for row in told if row is not None]


def _told(row: Row, case: CaseRecord, spatials: Sequence[Spatial]) -> Row | None:
    parameters = case.workload_parameters
    spatial = next((one for one in spatials if is_of(one, parameters)), None)
    access = str(row.params["access"])
    if spatial is not None and spatial.operation is not None and access not in spatial.operation:
        return None
    name = str(parameters.get("pattern", "simple-strided"))
    if name == "sequential-shared" and access == "write":
        return None
    params: dict[str, Scalar] = {
        "access": access,
        "pattern": name if spatial is None else spatial.title,
        "block_bytes": count_of(parameters, "request_bytes", DEFAULTS["request_bytes"]),
        "calls": "collective" if is_collective(parameters, case.backend_parameters) else "independent",
        "base_bytes": count_of(parameters, "base_bytes", 0),
        "ranks": row.params["ranks"],
        "nodes": row.params["nodes"],
        "backend": row.params["backend"],
    }
    return row.model_copy(update={"params": params})


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
