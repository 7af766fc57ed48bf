# SPDX-License-Identifier: Apache-2.0
"""From the records of suite ``spio`` to its rows: rates, times of ranks, and the share that memory answered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.verdicts import cache_verdict
from ullage.grouping import grouped
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, RowFrame, TargetFacts, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows, usual
from ullage.suites.spio.cells import is_of_neighbours
from ullage.suites.spio.findings import CACHED, RATE, findings_of
from ullage.suites.spio.options import SpioOptions

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_READ: Final = "read"
_SHARE_UNIT: Final = "of bytes"
_Place = tuple[str, str]


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options, launches = read_options(SpioOptions, request), launches_of(result)
    return summary_of(launches, context, spio_rows(launches, context, options.operations), findings_of)


def spio_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext, operations: Iterable[str]) -> list[Row]:
    """Return the rows of ``operations``, those of the cached share after the rates and times of their phase.

    What only makes files for a read is left out: the write of a case that reads neighbours' files, and phases that were
    not asked for.
    """
    records, asked = [list(launch) for launch in launches], {*operations}
    told = told_rows(records, context, _tell)
    found = [_bounded(row) for row in told if row.params["operation"] in asked]
    groups = grouped(((item.case.case, item.phase.phase), item.phase) for item in join(records))
    return [*found, *_cached_shares(found, groups, context)]


def _tell(row: Row, source: Source) -> Mapping[str, "Scalar"] | None:
    """Return the parameters of a row; None for a write that only makes what neighbours read."""
    parameters, access = source.workload, str(row.params["access"])
    of_neighbours = is_of_neighbours(parameters)
    if of_neighbours and access != _READ:
        return None
    ranks = int(row.params["ranks"])
    params: dict[str, Scalar] = {
        "access": access,
        "operation": "neighbour" if of_neighbours else access,
        **usual(row, "ranks", "nodes"),
        "block_bytes": count_of(parameters, "transfer_bytes", 1 << 18),
        "volume_bytes": ranks * count_of(parameters, "block_bytes", 1 << 20),
        "backend": row.params["backend"],
    }
    if access != "write":
        params["data_of"] = source.phases[-1].data_of
    return params


def _bounded(row: Row) -> Row:
    """Drop the ceiling of the device from a reread that memory may have answered."""
    return with_ceiling(row, None) if row.params["access"] == "reread" and row.verdict != "cold" else row


def _cached_shares(rows: Iterable[Row], phases: dict[_Place, list[PhaseRecord]], context: RowContext) -> list[Row]:
    """Return a row of the share of bytes that did not come from, or reach, the storage; none where no counter tells.

    ``phases``: of the repetitions that the other rows count, too.
    """
    found: list[Row] = []
    for row in rows:
        place = row.case, str(row.params["access"])
        shares = [] if row.metric != RATE else _shares(phases[place], context.targets.get(row.target, TargetFacts()))
        if shares:
            frame = RowFrame(CACHED, _SHARE_UNIT, row.target, row.params, row.case, "less", grade=row.grade)
            verdict = {"verdict": row.verdict, "verdict_reasons": row.verdict_reasons}
            found.append(frame.row(shares, context.level).model_copy(update=verdict))
    return found


def _shares(phases: Iterable[PhaseRecord], facts: TargetFacts) -> list[float]:
    verdicts = [
        cache_verdict(phase, memory_target=facts.is_memory, remote_target=facts.is_remote, holds_data=facts.holds_data)
        for phase in phases
    ]
    return [1 - min(1.0, verdict.share) for verdict in verdicts if verdict.share is not None]
