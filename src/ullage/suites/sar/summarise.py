# SPDX-License-Identifier: Apache-2.0
"""From the records of suite ``sar`` to its rows: those of each kernel, and the rate of the pipeline."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.verdicts.grades import sound_rows, worst_grade
from ullage.grouping import grouped
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, RowFrame, build_rows, join
from ullage.runs.suite import SuiteSummary
from ullage.suites.sar.findings import findings_of
from ullage.suites.sar.shape import KERNELS, shape_of

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

PIPELINE: Final = "pipeline"
PIPELINE_RATE: Final = "pipeline_rate"


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [list(file.records) for file in result.read_records()]
    rows = sar_rows(launches, context)
    found = findings_of(sound_rows(rows), context.level)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found])


def sar_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext) -> list[Row]:
    """Return the rows of all kernels with their sizes, and one of the pipeline behind those of each case."""
    records = [list(launch) for launch in launches]
    measured = join(records)
    cases = {item.case.case: item.case for item in measured}
    repetitions = grouped(((item.case.case, item.case.repetition), item.phase) for item in measured)
    of_case = grouped((case, phases) for (case, _), phases in repetitions.items())
    rows = [_told(row, cases[row.case]) for row in build_rows(records, context) if row.case in cases]
    found: list[Row] = []
    for case, some in grouped((row.case, row) for row in rows).items():
        found += [*some, *_pipeline(some, cases[case], of_case[case], context)]
    return found


def _told(row: Row, case: CaseRecord) -> Row:
    shape = shape_of(case.workload_parameters)
    params: dict[str, Scalar] = {
        "access": row.params["access"],
        "ranks": row.params["ranks"],
        "nodes": row.params["nodes"],
        "backend": row.params["backend"],
        "layout": "containers" if shape.in_containers else "files",
        "image_bytes": shape.image_bytes,
        "grid": shape.grid,
        "depth": shape.depth,
        "raw": str(case.workload_parameters.get("raw", "shared")),
        "sync": str(case.workload_parameters.get("sync", "close")),
    }
    return row.model_copy(update={"params": params})


def _pipeline(
    rows: Sequence[Row], case: CaseRecord, repetitions: Iterable[Sequence[PhaseRecord]], context: RowContext
) -> list[Row]:
    """Return the row of the pipeline: images over the time of the slowest kernel, in each repetition."""
    kept = [phases for phases in repetitions if {phase.phase for phase in phases} >= {*KERNELS}]
    samples = [rate for phases in kept if (rate := pipeline_rate(phases, case)) is not None]
    if not samples:
        return []
    params = {**rows[0].params, "access": PIPELINE}
    grade = worst_grade(row.grade for row in rows)
    frame = RowFrame(PIPELINE_RATE, "image/s", rows[0].target, params, case.case, grade=grade)
    return [frame.row(samples, context.level, context.wanted_width)]


def pipeline_rate(phases: Iterable[PhaseRecord], case: CaseRecord) -> float | None:
    """Return the images a second that a pipeline of the kernels would reach; None where nothing took time.

    It is 1 / max over K1 to K4 of the time of a kernel for an image. All kernels would work at once, each at the rate
    that it reaches alone.
    """
    longest = max(phase.elapsed_ns for phase in phases if phase.phase in KERNELS)
    return shape_of(case.workload_parameters).images * 1e9 / longest if longest > 0 else None
