# SPDX-License-Identifier: Apache-2.0
"""From the records of flash to its rows."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, build_rows, join
from ullage.runs.suite import SuiteSummary
from ullage.suites.flash.findings import findings_of

if TYPE_CHECKING:
    from ullage.model.plan import Scalar


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [file.records for file in result.read_records()]
    rows = flash_rows(launches, context)
    found = findings_of(sound_rows(rows), context.level)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found])


def flash_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext) -> list[Row]:
    """Return the rows of both phases, with file, cells, format and transfers."""
    records = [list(launch) for launch in launches]
    cases = {item.case.case: item.case for item in join(records)}
    return [_told(row, cases[row.case]) for row in build_rows(records, context) if row.case in cases]


def _told(row: Row, case: CaseRecord) -> Row:
    parameters = case.workload_parameters
    params: dict[str, Scalar] = {
        "access": row.params["access"],
        "ranks": row.params["ranks"],
        "nodes": row.params["nodes"],
        "backend": row.params["backend"],
        "file": str(parameters.get("file", "checkpoint")),
        "cells": count_of(parameters, "cells", 8),
        "blocks": count_of(parameters, "blocks", 0),
        "format": "raw" if parameters.get("format", "raw") == "raw" else str(row.params["backend"]),
        "transfers": "collective" if case.backend_parameters.get("collective") else "independent",
    }
    return row.model_copy(update={"params": params})
