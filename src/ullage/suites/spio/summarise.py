# SPDX-License-Identifier: Apache-2.0
"""From the records of suite ``spio`` to its rows: rates, times of ranks, and the share that memory answered."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.verdicts import cache_verdict
from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, RowFrame, TargetFacts, build_rows, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
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
    options = read_options(SpioOptions, request)
    launches = [list(file.records) for file in result.read_records()]
    rows = spio_rows(launches, context, options.operations)
    found = findings_of(sound_rows(rows), context.level)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found])


def spio_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext, operations: Iterable[str]) -> list[Row]:
    """Return the rows of ``operations``, those of the cached share after the rates and times of their phase.

    What only makes files for a read is left out: the write of a case that reads neighbours' files, and phases that were
    not asked for.
    """
    records, asked = [list(launch) for launch in launches], {*operations}
    measured = join(records)
    cases = {item.case.case: item.case for item in measured}
    groups = grouped(((item.case.case, item.phase.phase), item) for item in measured)
    counted = {place: [item.phase for item in items] for place, items in groups.items()}
    found: list[Row] = []
    for row in build_rows(records, context):
        place = row.case, str(row.params["access"])
        told = _told(row, cases[row.case], counted[place])
        if told is not None and told.params["operation"] in asked:
            found.append(told)
    return [*found, *_cached_shares(found, counted, context)]


def _told(row: Row, case: CaseRecord, phases: Sequence[PhaseRecord]) -> Row | None:
    """Return ``row`` with the parameters of this suite; None for a write that only makes what neighbours read."""
    parameters, access = case.workload_parameters, str(row.params["access"])
    of_neighbours = is_of_neighbours(parameters)
    if of_neighbours and access != _READ:
        return None
    ranks = int(row.params["ranks"])
    params: dict[str, Scalar] = {
        "access": access,
        "operation": "neighbour" if of_neighbours else access,
        "ranks": ranks,
        "nodes": row.params["nodes"],
        "block_bytes": count_of(parameters, "transfer_bytes", 1 << 18),
        "volume_bytes": ranks * count_of(parameters, "block_bytes", 1 << 20),
        "backend": row.params["backend"],
    }
    if access != "write":
        params["data_of"] = phases[-1].data_of
    told = row.model_copy(update={"params": params})
    # Memory may answer a reread, and the ceiling of the device does not bound memory.
    return with_ceiling(told, None) if access == "reread" and told.verdict != "cold" else told


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
