# SPDX-License-Identifier: Apache-2.0
"""From the records of a disk run to rows and findings."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from ullage.analysis.findings import find_all
from ullage.analysis.findings.enough import enough_of
from ullage.analysis.findings.phrasing import finding, with_gain
from ullage.analysis.statistics import level_of_each
from ullage.analysis.verdicts.grades import sound_rows
from ullage.analysis.verdicts.physics import with_thread_flags
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.parameters import count_of
from ullage.quantity import plural
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, threads_at_once, with_peers
from ullage.runs.ceilings import with_ceilings
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, told_rows
from ullage.suites.disk.options import DiskOptions
from ullage.units import format_bytes, format_operations


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``. Rows of small requests, and no others, have a ``queue_depth``; those of threads of one rank
    have their ``threads``.
    """
    options, launches = read_options(DiskOptions, request), launches_of(result)
    own = told_rows(launches, context, partial(_tell, smalls=options.smalls))
    rows = with_ceilings(with_peers(with_thread_flags(own), result.read_peers()), request.targets, options.machine)
    found = find_all(rows, failed_cases(launches), context.level, context.settable)
    # Nothing extends the table beyond what was asked for, so a best cell at its rim needs no finding.
    findings = [one for one in found if one.kind != "edge"]
    return SuiteSummary(rows, [*findings, *saturation(sound_rows(rows), context.level)])


def _tell(row: Row, source: Source, smalls: Mapping[str, int]) -> Mapping[str, Scalar]:
    """State what is in flight in the parameters of a row where it is varied, and nowhere else."""
    params = {name: value for name, value in row.params.items() if name not in ("queue_depth", "threads")}
    if (threads := count_of(source.workload, "threads", 1)) > 1:
        params["threads"] = threads
    if row.params.get("block_bytes") == smalls.get(row.target, 0):
        params["queue_depth"] = count_of(source.workload, "queue_depth", 1)
    return params


# -- from how many small requests in flight on a disk gives no more ----------------------------------------------------

METRIC = "operation_rate"


def in_flight(row: Row) -> int:
    """Return how many requests all threads of a row of small requests keep under way together."""
    return threads_at_once(row.params) * row.count("queue_depth", 1)


def saturation(rows: Iterable[Row], level: float) -> list[Finding]:
    """Return a finding for each target and access with more than one number of small requests in flight."""
    groups = grouped(
        ((row.target, row.access), row)
        for row in rows
        if row.metric == METRIC and "queue_depth" in row.params and (not row.is_invalid)
    )
    own = level_of_each(level, map(len, groups.values()))
    return [_saturation(sorted(line, key=in_flight), own) for line in groups.values() if len(line) > 1]


def _saturation(line: Sequence[Row], level: float) -> Finding:
    first, found = line[0], enough_of(line, level)
    target, access = first.target, str(first.params.get("access", "operation"))
    size = format_bytes(first.count("block_bytes", 0))
    what = f"{target} random {access}s of {size}"
    said = finding(
        "queue-depth",
        found.title(what, _requests(found.row)),
        found.text(what, _requests, format_operations, " Test more in flight (--depth)."),
        target=target,
        access=access,
        in_flight=[in_flight(row) for row in line],
        operations_per_s=[row.median for row in line],
        enough=None if found.is_open else in_flight(found.row),
        best=in_flight(found.best),
    )
    params = found.row.params
    return with_gain(said, found.gain, f"--threads {threads_at_once(params)} --depth {params['queue_depth']}")


def _requests(row: Row) -> str:
    return f"{plural(in_flight(row), 'request')} in flight"
