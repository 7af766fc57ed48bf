# SPDX-License-Identifier: Apache-2.0
"""From the records of a memory run to rows under their ceilings, and findings."""

from typing import Final

from ullage.analysis.findings import find_all
from ullage.analysis.findings.phrasing import level_of_part
from ullage.analysis.verdicts.grades import sound_rows
from ullage.analysis.verdicts.physics import with_thread_flags
from ullage.model.request import Request
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, with_peers
from ullage.runs.kernels.options import MEMORY
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.memory.bandwidth_findings import bandwidth_findings
from ullage.suites.memory.ceilings import with_ceilings
from ullage.suites.memory.latency_findings import latency_findings
from ullage.suites.memory.options import MemoryOptions
from ullage.suites.memory.rows import memory_rows

# Kinds of sentences that compare: bytes of stores, kinds of them, threads, order, pages, chases, load.
COMPARING: Final = 7


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(MemoryOptions, request)
    launches = [file.records for file in result.read_records()]
    rows = with_peers(memory_rows(launches, context, options.caches), result.read_peers())
    rows = with_ceilings(with_thread_flags(rows), options.machine)
    own = [failed for failed in failed_cases(launches) if failed.target == MEMORY.name]
    failures = find_all([], own, context.level, context.settable)
    sound = sound_rows(rows)
    level = level_of_part(context.level, COMPARING)
    found = [*bandwidth_findings(sound, level), *latency_findings(sound, options.caches, level)]
    return SuiteSummary(rows, [*failures, *found])
