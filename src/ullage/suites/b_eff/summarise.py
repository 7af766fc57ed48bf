# SPDX-License-Identifier: Apache-2.0
"""From the records of a b_eff run to the value, rows and sentences."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.study import make_study
from ullage.model.request import Request
from ullage.model.summary import Finding, Row, Score
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.b_eff.findings import findings_of
from ullage.suites.b_eff.formula import Values, median_b_eff, per_process
from ullage.suites.b_eff.measured import BEffRun, read_runs
from ullage.suites.b_eff.options import BEffOptions
from ullage.suites.b_eff.rows import Rows
from ullage.suites.b_eff.validity import reasons_against

# The original counts in 10^6 bytes.
_MB: Final = 1e6
UNIT: Final = "MB/s"


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(BEffOptions, request)
    launches = [file.records for file in result.read_records()]
    rows: list[Row] = []
    scores: list[Score] = []
    findings: list[Finding] = find_failures(make_study([], failed_cases(launches), context.level))
    for run in read_runs(join(launches), options.repetitions):
        reasons = reasons_against(run)
        rows += Rows(run, reasons, context.level).all()
        scores += b_eff_scores(run, reasons, context.level)
        findings += findings_of(run, options, reasons, context.level)
    return SuiteSummary(rows, findings, scores)


def b_eff_scores(run: BEffRun, reasons: Sequence[str], level: float) -> list[Score]:
    """The value, accumulated first; of the median the interval. None where a group of patterns has no value."""
    values, known = Values(run), median_b_eff(run, level)
    value, at_last = values.b_eff, values.b_eff_at(len(run.sizes) - 1)
    if value is None or at_last is None:
        return []
    found = [
        _score("b_eff", value, reasons),
        _score("b_eff per process", per_process(run, value), reasons),
        _score("b_eff at Lmax", at_last, reasons),
    ]
    if known is not None:
        middle = _score("b_eff by medians", known.median, reasons)
        found.append(middle.model_copy(update={"low": known.low / _MB, "high": known.high / _MB}))
    return found


def _score(name: str, value: float, reasons: Sequence[str]) -> Score:
    return Score(name=name, unit=UNIT, value=value / _MB, valid=not reasons, reasons=list(reasons))
