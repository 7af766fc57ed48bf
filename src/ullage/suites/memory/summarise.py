# SPDX-License-Identifier: Apache-2.0
"""From the records of a memory run to rows and findings."""

from collections.abc import Sequence

from ullage.analysis.findings import find_all
from ullage.analysis.findings.words import columns
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.peer_rows import with_peers
from ullage.results.rows import RowContext
from ullage.runs.kernels.places import MEMORY
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.memory.bandwidth_findings import bandwidth_findings
from ullage.suites.memory.ceilings import with_ceilings
from ullage.suites.memory.latency_findings import latency_findings
from ullage.suites.memory.options import MemoryOptions
from ullage.suites.memory.rows import memory_rows


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(MemoryOptions, request)
    launches = [file.records for file in result.read_records()]
    rows = with_peers(memory_rows(launches, context, options.caches), result.read_peers())
    rows = with_ceilings(rows, options.machine, options.caches)
    own = [failed for failed in failed_cases(launches) if failed.target == MEMORY.name]
    failures = find_all([], own, context.level)
    found = [*bandwidth_findings(rows, context.level), *latency_findings(rows, options.caches)]
    return SuiteSummary(rows, [*failures, *contaminated(rows), *found])


def contaminated(rows: Sequence[Row]) -> list[Finding]:
    """A warning above all other sentences where most numbers were taken while others used the machine."""
    dirty = sum(row.grade == "C" for row in rows)
    if 2 * dirty <= len(rows):
        return []
    text = (
        f"{dirty} of {len(rows)} numbers of memory were taken while others used this machine (grade C): the sentences "
        "below may tell of them. Run again when it is idle."
    )
    return [Finding(kind="contamination", text=text, severity="warning", numbers=columns(dirty=dirty, rows=len(rows)))]
