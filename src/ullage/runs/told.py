# SPDX-License-Identifier: Apache-2.0
"""Rows with the parameters that a suite tells of them, and the summary of a suite whose findings go by its rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TypeAlias

from ullage.analysis.ladders import WAITED, why_waited
from ullage.analysis.verdicts.cache import cache_verdict
from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped
from ullage.model.plan import Parameters, Scalar
from ullage.model.record import CaseRecord, PhaseRecord, RunRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, RowFrame, TargetFacts, build_rows, join
from ullage.runs.options.engine import Values, values_of
from ullage.runs.suite import SuiteSummary


@dataclass(frozen=True)
class Source:
    """Where a row comes from: its case, the last launch of it, and the repetitions of its phase that were counted."""

    run: RunRecord
    case: CaseRecord
    phases: Sequence[PhaseRecord]

    @property
    def workload(self) -> Parameters:
        """The parameters of the workload as its record has them."""
        return self.case.workload_parameters

    @cached_property
    def values(self) -> Values:
        """All parameters of the workload."""
        return values_of(self.case.workload, self.workload)


Telling: TypeAlias = Callable[[Row, Source], Mapping[str, Scalar] | None]
"""Returns the parameters of a row; None for one that is left out, such as of a phase that only makes files."""


Launches: TypeAlias = Sequence[list[AnyRecord]]
"""The records of each file of a result."""


def launches_of(result: ResultFolder) -> Launches:
    """Return the records of ``result``."""
    return [list(file.records) for file in result.read_records()]


def summary_of(
    launches: Launches,
    context: RowContext,
    rows: list[Row],
    findings_of: Callable[[Sequence[Row], float], list[Finding]],
) -> SuiteSummary:
    """Summarise by ``rows``: what failed, and what the sound ones of them say at the level of a report."""
    found = findings_of(sound_rows(rows), context.level)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found])


def summarising(
    rows_of: Callable[[Launches, RowContext, Request], list[Row]],
    findings_of: Callable[[Sequence[Row], float], list[Finding]],
) -> Callable[[ResultFolder, Request, RowContext], SuiteSummary]:
    """Return how a suite summarises whose rows follow from records and request, and its findings from these rows."""

    def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
        launches = launches_of(result)
        return summary_of(launches, context, rows_of(launches, context, request), findings_of)

    return summarise


def told_rows(
    launches: Sequence[Iterable[AnyRecord]],
    context: RowContext,
    tell: Telling,
    finish: Callable[[Row, Source], Row] = lambda row, _source: row,
) -> list[Row]:
    """Return the rows of counted repetitions, with the parameters that ``tell`` returns.

    ``finish`` adds flags and notes, by what else the records say of them.
    """
    records = [list(launch) for launch in launches]
    groups = grouped(((item.case.case, item.phase.phase), item) for item in join(records))
    sources = {
        place: Source(items[-1].run, items[-1].case, [item.phase for item in items]) for place, items in groups.items()
    }
    found: list[Row] = []
    for row in build_rows(records, context):
        source = sources[row.case, row.access]
        params = tell(row, source)
        if params is not None:
            found.append(finish(row.model_copy(update={"params": dict(params)}), source))
    return found


def with_cause(row: Row, source: Source, quota: float | None = None) -> Row:
    """Note on a row of the time that threads waited why they did; return others as they are.

    ``quota``: of the control group, in CPUs; None: none.
    """
    if row.metric != WAITED:
        return row
    known = [one.contamination for one in source.phases if one.contamination is not None]
    foreign = median([one.foreign_cpu_ppm / 1e6 for one in known] or [0.0])
    return row.model_copy(update={"notes": [*row.notes, why_waited(foreign, row.median, quota)]})


def cached_share(row: Row, phases: Iterable[PhaseRecord], context: RowContext) -> list[Row]:
    """Return a row of the share of bytes that did not come from, or reach, the storage; none where no counter tells.

    ``row``: the rate beside it; ``phases``: the repetitions that it counts.
    """
    facts = context.targets.get(row.target, TargetFacts())
    verdicts = [
        cache_verdict(phase, memory_target=facts.is_memory, remote_target=facts.is_remote, holds_data=facts.holds_data)
        for phase in phases
    ]
    shares = [1 - min(1.0, verdict.share) for verdict in verdicts if verdict.share is not None]
    if not shares:
        return []
    frame = RowFrame("cached_share", "of bytes", row.target, row.params, row.case, "less", grade=row.grade)
    verdict = {"verdict": row.verdict, "verdict_reasons": row.verdict_reasons}
    return [frame.row(shares, context.level).model_copy(update=verdict)]


def usual(row: Row, *names: str) -> dict[str, Scalar]:
    """Return those parameters that a row has before its suite tells more."""
    return {name: row.params[name] for name in names}
