# SPDX-License-Identifier: Apache-2.0
"""From the records of a noise run to rows, and to what should be done about it."""

from dataclasses import replace
from typing import Final

from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.study import make_study
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, TargetFacts, build_rows, join
from ullage.runs.kernels.places import CPU
from ullage.runs.suite import SuiteSummary
from ullage.suites.noise.findings import findings_of

METRICS: Final = ("noise_share", "worst_noise_share", "turbo_share", "detour_share", "longest_detour")


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [file.records for file in result.read_records()]
    targets = {**context.targets, CPU.name: TargetFacts(holds_data=False)}
    rows = build_rows(launches, replace(context, accesses=(), metrics=METRICS, targets=targets))
    measured = join(launches)
    cases = {item.case.case: item.case for item in measured}
    told = [_told(row, cases[row.case]) for row in rows]
    findings = find_failures(make_study(told, failed_cases(launches), context.level))
    return SuiteSummary(told, [*findings, *findings_of(told, [item.phase for item in measured])])


def _told(row: Row, case: CaseRecord) -> Row:
    threads = case.workload_parameters.get("threads", 1)
    params = {"access": row.params["access"], "threads": threads if isinstance(threads, int) else 1}
    return row.model_copy(update={"params": params})
