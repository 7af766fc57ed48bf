# SPDX-License-Identifier: Apache-2.0
"""From the records of suite ``overlap`` to its rows: each says who moves the data, how much at once, on which cores."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import Measured, RowContext, build_rows, join
from ullage.runs.suite import SuiteSummary
from ullage.suites.overlap.findings import findings_of

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

# As the engine has them.
_DEPTH = 4
_BATCHES = 4


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    del request
    launches = [list(file.records) for file in result.read_records()]
    rows = overlap_rows(launches, context)
    found = findings_of(sound_rows(rows), context.level)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found])


def overlap_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext) -> list[Row]:
    """Return the rows of every phase, with the method, the depth and the cores of a rank."""
    records = [list(launch) for launch in launches]
    measured = {item.case.case: item for item in join(records)}
    return [_told(row, measured[row.case]) for row in build_rows(records, context)]


def _told(row: Row, measured: Measured) -> Row:
    parameters, layout = measured.case.workload_parameters, measured.run.layout
    params: dict[str, Scalar] = {
        "access": row.params["access"],
        "ranks": row.params["ranks"],
        "nodes": row.params["nodes"],
        "backend": row.params["backend"],
        "method": str(parameters.get("method", "threads")),
        "block_bytes": row.params["block_bytes"],
        "depth": count_of(parameters, "depth", _DEPTH),
        "batches": count_of(parameters, "batches", _BATCHES),
        # Without a binding the ranks of a node share its cores.
        "cores_of_rank": layout.threads if layout.binding == "core" else 1,
    }
    if tests := count_of(parameters, "tests", 0):
        params["tests"] = tests
    if "direct" in measured.case.backend_parameters:
        params["direct"] = bool(measured.case.backend_parameters["direct"])
    return row.model_copy(update={"params": params})
