# SPDX-License-Identifier: Apache-2.0
"""From the records of a disk run to rows and findings."""

from collections.abc import Iterable, Mapping

from ullage.analysis.findings import find_all
from ullage.model.plan import Parameters
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.peer_rows import with_peers
from ullage.results.records import RecordFile
from ullage.results.rows import RowContext, build_rows
from ullage.runs.cells.ceilings import with_ceilings
from ullage.runs.suite import SuiteSummary
from ullage.suites.disk.findings import saturation
from ullage.suites.disk.options import DiskOptions


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``. Rows of small requests, and no others, have a ``queue_depth``; those of threads of one rank

    have their ``threads``.
    """
    options = DiskOptions.model_validate(request.options)
    files = result.read_records()
    launches = [file.records for file in files]
    measured = with_peers(_with_depths(build_rows(launches, context), files, options.smalls), result.read_peers())
    rows = with_ceilings(measured, request.targets, options.machine)
    # The table is as large as it was asked for, and nothing extends it: that the best lies at its rim is no news.
    findings = [one for one in find_all(rows, failed_cases(launches), context.level) if one.kind != "edge"]
    return SuiteSummary(rows, [*findings, *saturation(rows, context.level)])


def _with_depths(rows: Iterable[Row], files: Iterable[RecordFile], smalls: Mapping[str, int]) -> list[Row]:
    parameters = {case.case: case.workload_parameters for file in files for case in file.cases}
    return [_with_depth(row, parameters.get(row.case, {}), smalls.get(row.target)) for row in rows]


def _with_depth(row: Row, parameters: Parameters, small: int | None) -> Row:
    """What is in flight stands in a row where it is varied, and nowhere else."""
    params = {name: value for name, value in row.params.items() if name not in ("queue_depth", "threads")}
    threads = parameters.get("threads", 1)
    if isinstance(threads, int) and threads > 1:
        params["threads"] = threads
    if row.params.get("block_bytes") == small and small is not None:
        depth = parameters.get("queue_depth", 1)
        params["queue_depth"] = depth if isinstance(depth, int) else 1
    return row.model_copy(update={"params": params})
