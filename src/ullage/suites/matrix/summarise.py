# SPDX-License-Identifier: Apache-2.0
"""From the records of a matrix to rows and findings. The importer of IOzone's own tables makes rows like these."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.findings import find_all
from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.records import RecordFile
from ullage.results.rows import RowContext, build_rows
from ullage.runs.suite import SuiteSummary
from ullage.suites.matrix.findings import findings_of, levels_of
from ullage.suites.matrix.options import MatrixOptions
from ullage.suites.matrix.prepare import job_of

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

# The general findings that hold without neighbours in ranks: what went wrong, and what was really measured.
_KEPT: Final = frozenset({"failure", "cache"})
# Where one of these answered, the device's ceiling bounds nothing.
_CACHED: Final = ("warm", "mixed", "cached", "partly")


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``. Rows have a ``test`` (what IOzone's users call it), ``file_bytes`` and ``block_bytes``."""
    options = MatrixOptions.model_validate(request.options)
    files = result.read_records()
    launches = [file.records for file in files]
    rows = label_rows(build_rows(launches, context), _cases(files), options)
    general = [
        one for one in find_all(rows, failed_cases(launches), context.level, context.settable) if one.kind in _KEPT
    ]
    system = result.read_system()
    return SuiteSummary(rows, [*findings_of(sound_rows(rows), levels_of(system)), *general])


def _cases(files: Iterable[RecordFile]) -> dict[str, CaseRecord]:
    return {case.case: case for file in files for case in file.cases}


def label_rows(rows: Iterable[Row], cases: Mapping[str, CaseRecord], options: MatrixOptions) -> list[Row]:
    """Rows of the tests, in their order; phases that only make a file are left out."""
    found: list[Row] = []
    for row in rows:
        case = cases.get(row.case)
        job = (
            None if case is None else job_of(options, case.backend, (case.backend_parameters, case.workload_parameters))
        )
        access = str(row.params.get("access", ""))
        label = "" if job is None else job.label(access, options.tests)
        if case is None or job is None or not label:
            continue
        params: dict[str, Scalar] = {
            "test": label,
            "iozone": job.test_of(label),
            "access": access,
            "ranks": row.params.get("ranks", 1),
            "file_bytes": count_of(case.workload_parameters, "block_bytes", 1 << 20),
            "block_bytes": row.params.get("block_bytes", 0),
            "backend": case.backend,
        }
        bounded = with_ceiling(row, None) if row.verdict.split(" ")[0] in _CACHED else row
        found.append(bounded.model_copy(update={"params": params}))
    return found
