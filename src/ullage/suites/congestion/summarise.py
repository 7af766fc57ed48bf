# SPDX-License-Identifier: Apache-2.0
"""From the records of a congestion run to rows and findings."""

from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.study import make_study
from ullage.model.request import Request
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.suite import SuiteSummary
from ullage.suites.congestion.findings import findings_of
from ullage.suites.congestion.rows import congestion_rows


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [file.records for file in result.read_records()]
    rows = congestion_rows(launches, context)
    findings = find_failures(make_study(rows, failed_cases(launches), context.level))
    return SuiteSummary(rows, [*findings, *findings_of(rows)])
