# SPDX-License-Identifier: Apache-2.0
"""From the records of suite ``checkpoint`` to its rows: both phases of each layout under the same names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows
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
    options, launches = read_options(CheckpointOptions, request), launches_of(result)
    return summary_of(launches, context, checkpoint_rows(launches, context, options), findings_of)


def checkpoint_rows(
    launches: Sequence[Iterable[AnyRecord]], context: RowContext, options: CheckpointOptions
) -> list[Row]:
    """Return the rows of saving and of restoring, with the layout of the files and whose data was read back."""

    def tell(row: Row, source: Source) -> Mapping[str, "Scalar"]:
        return _told(row, source, options)

    rows = told_rows(launches, context, tell)
    # The ceiling of a target bounds all ranks together.
    return [with_ceiling(row, None) if row.metric == LEAST_RATE else row for row in rows]


def _told(row: Row, source: Source, options: CheckpointOptions) -> Mapping[str, "Scalar"]:
    parameters, ranks, workload = source.workload, int(row.params["ranks"]), source.case.workload
    access = _ACCESSES[str(row.params["access"])]
    rank_bytes = bytes_of_a_rank(workload, parameters)
    params: dict[str, Scalar] = {
        "access": access,
        "operation": _OPERATIONS[access],
        "ranks": ranks,
        "nodes": row.params["nodes"],
        "model": options.model,
        "mode": options.mode,
        "layout": file_layout(workload, parameters),
        "files": files_of(workload, parameters, ranks),
        "block_bytes": call_bytes(workload, parameters),
        "rank_bytes": rank_bytes,
        "volume_bytes": ranks * rank_bytes,
        "backend": row.params["backend"],
    }
    if options.scale is not None:
        params["scale"] = options.scale
    if access == "read":
        params["data_of"] = source.phases[-1].data_of
    return params
