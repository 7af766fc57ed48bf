# SPDX-License-Identifier: Apache-2.0
"""From the records of a rings run, and what hpcc said in turn, to rows and sentences."""

from ullage.failed_cases import failed_cases
from ullage.findings.failures import find as find_failures
from ullage.findings.study import make_study
from ullage.model.request import Request
from ullage.peer_rows import with_peers
from ullage.result import ResultFolder
from ullage.rows import RowContext
from ullage.suites import SuiteSummary
from ullage.suites.rings.conclusions import conclusions
from ullage.suites.rings.rows import rings_rows


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [file.records for file in result.read_records()]
    peers = result.read_peers()
    rows = with_peers(rings_rows(launches, context), peers)
    failures = find_failures(make_study([], failed_cases(launches), context.level))
    return SuiteSummary(rows, [*failures, *conclusions(rows, peers, context.level)])
