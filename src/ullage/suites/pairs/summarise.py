# SPDX-License-Identifier: Apache-2.0
"""From the records of a pairs run to rows, and to what is slow."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.study import make_study
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, TargetFacts, build_rows, join
from ullage.runs.kernels.places import MPI
from ullage.runs.suite import SuiteSummary
from ullage.suites.pairs.findings import RANDOM_PATTERN, exchange_findings, matrix_findings
from ullage.suites.pairs.matrix import read_matrices

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

METRICS: Final = (
    "pair_latency",
    "worst_pair_latency",
    "pair_bandwidth",
    "worst_pair_bandwidth",
    "exchange_bandwidth",
)
PAIRS: Final = "pairs"
_KEPT: Final = ("between", "at_once")


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [file.records for file in result.read_records()]
    targets = {**context.targets, MPI.name: TargetFacts(holds_data=False)}
    rows = build_rows(launches, replace(context, accesses=(), metrics=METRICS, targets=targets))
    measured = join(launches)
    cases = {item.case.case: item.case for item in measured}
    told = [_told(row, cases[row.case]) for row in rows]
    matrices = read_matrices(measured)
    findings = find_failures(make_study(told, failed_cases(launches), context.level))
    # What matters most is told by the largest messages.
    said = [finding for matrix in reversed(matrices) for finding in matrix_findings(matrix)]
    return SuiteSummary(told, [*findings, *said, *exchange_findings(told, matrices)])


def _told(row: Row, case: CaseRecord) -> Row:
    """With what sets the row apart, by the names that people know."""
    known = case.workload_parameters
    size = known.get("message_bytes", 8)
    params: dict[str, Scalar] = {
        "access": row.params["access"],
        "pattern": str(known.get("pattern", PAIRS)),
        "message_bytes": size if isinstance(size, int) else 8,
        "ranks": row.params["ranks"],
        "nodes": row.params["nodes"],
        **{name: value for name in _KEPT if isinstance(value := known.get(name), (int, str))},
    }
    if params["pattern"] == RANDOM_PATTERN:
        seed = known.get("seed", 1)
        params["seed"] = seed if isinstance(seed, int) else 1
    return row.model_copy(update={"params": params})
