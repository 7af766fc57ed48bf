# SPDX-License-Identifier: Apache-2.0
"""From the records of suite ``checkpoint`` to its rows: both phases of each layout under the same names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, build_rows, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.checkpoint.cells import bytes_of_a_rank, call_bytes, file_layout, files_of
from ullage.suites.checkpoint.findings import LEAST_RATE, SAVE, findings_of
from ullage.suites.checkpoint.options import CheckpointOptions

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

# The phases of workload stepfile have names of their own.
_ACCESSES: Final[Mapping[str, str]] = {"write": "write", "forward": "write", "read": "read", "adjoint": "read"}
_OPERATIONS: Final[Mapping[str, str]] = {"write": SAVE, "read": "restore"}


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(CheckpointOptions, request)
    launches = [list(file.records) for file in result.read_records()]
    rows = checkpoint_rows(launches, context, options)
    found = findings_of(sound_rows(rows), context.level)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found])


def checkpoint_rows(
    launches: Sequence[Iterable[AnyRecord]], context: RowContext, options: CheckpointOptions
) -> list[Row]:
    """Return the rows of saving and of restoring, with the layout of the files and whose data was read back."""
    records = [list(launch) for launch in launches]
    measured = join(records)
    cases = {item.case.case: item.case for item in measured}
    phases = grouped(((item.case.case, item.phase.phase), item.phase) for item in measured)
    return [
        _told(row, cases[row.case], phases[row.case, str(row.params["access"])], options)
        for row in build_rows(records, context)
    ]


def _told(row: Row, case: CaseRecord, phases: Sequence[PhaseRecord], options: CheckpointOptions) -> Row:
    parameters, ranks = case.workload_parameters, int(row.params["ranks"])
    access = _ACCESSES[str(row.params["access"])]
    rank_bytes = bytes_of_a_rank(case.workload, parameters)
    params: dict[str, Scalar] = {
        "access": access,
        "operation": _OPERATIONS[access],
        "ranks": ranks,
        "nodes": row.params["nodes"],
        "model": options.model,
        "mode": options.mode,
        "layout": file_layout(case.workload, parameters),
        "files": files_of(case.workload, parameters, ranks),
        "block_bytes": call_bytes(case.workload, parameters),
        "rank_bytes": rank_bytes,
        "volume_bytes": ranks * rank_bytes,
        "backend": row.params["backend"],
    }
    if options.scale is not None:
        params["scale"] = options.scale
    if access == "read":
        params["data_of"] = phases[-1].data_of
    told = row.model_copy(update={"params": params})
    # The ceiling of a target bounds all ranks together.
    return with_ceiling(told, None) if row.metric == LEAST_RATE else told
