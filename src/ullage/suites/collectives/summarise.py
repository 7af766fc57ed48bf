# SPDX-License-Identifier: Apache-2.0
"""From the records of a run over collective operations to rows and findings."""

from ullage.failed_cases import failed_cases
from ullage.findings.failures import find as find_failures
from ullage.findings.study import make_study
from ullage.model.request import Request
from ullage.result import ResultFolder
from ullage.rows import RowContext
from ullage.suites import SuiteSummary
from ullage.suites.collectives.conclusions import conclusions
from ullage.suites.collectives.rows import collective_rows


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [file.records for file in result.read_records()]
    rows = collective_rows(launches, context)
    findings = find_failures(make_study(rows, failed_cases(launches), context.level))
    return SuiteSummary(rows, [*findings, *conclusions(rows)])
