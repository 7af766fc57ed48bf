# SPDX-License-Identifier: Apache-2.0
"""From the records of a rings run, and what hpcc said in turn, to rows and sentences."""

from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.study import make_study
from ullage.model.request import Request
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.peer_rows import with_peers
from ullage.results.rows import RowContext
from ullage.runs.suite import SuiteSummary
from ullage.suites.rings.findings import findings_of
from ullage.suites.rings.rows import rings_rows


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [file.records for file in result.read_records()]
    peers = result.read_peers()
    rows = with_peers(rings_rows(launches, context), peers)
    failures = find_failures(make_study([], failed_cases(launches), context.level))
    return SuiteSummary(rows, [*failures, *findings_of(rows, peers, context.level)])
