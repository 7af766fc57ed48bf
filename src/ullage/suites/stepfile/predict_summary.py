# SPDX-License-Identifier: Apache-2.0
"""From the records of a prediction to its rows and findings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ullage.analysis.verdicts.grades import is_sound, sound_rows
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.stepfile.cached import measured_shares
from ullage.suites.stepfile.findings import findings_of
from ullage.suites.stepfile.predict_options import PredictOptions
from ullage.suites.stepfile.predict_texts import said_of
from ullage.suites.stepfile.predicted import ADJOINT, Predicted, predictions
from ullage.suites.stepfile.rates import computes, rates_of
from ullage.suites.stepfile.summarise import demands_of, stepfile_rows

if TYPE_CHECKING:
    from ullage.model.plan import Scalar


_USES: Final = ("run", "rates", "scaling")


def findings_before(options: PredictOptions, cached: Mapping[str, bool]) -> list[Finding]:
    """Return what the known rates of ``options`` say, without any measurement."""
    return said_of(options, predictions(options, options.rates, cached))


def summarise_prediction(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(PredictOptions, request)
    launches = [list(file.records) for file in result.read_records()]
    rows = _told(stepfile_rows(launches, context), launches, options.ranks[0])
    known = options.rates or rates_of(launches, rows, request.run_id)
    runs = [row for row in rows if row.params["use"] == "run"]
    cached = {name: facts.holds_data and not facts.is_memory for name, facts in context.targets.items()}
    shares = measured_shares(launches, context)
    walls = [row for row in runs if row.metric == "phase_time"]
    found = [_with_share(one, shares) for one in predictions(options, known, cached, walls)]
    sound = sound_rows(runs)
    on_run = findings_of(sound, demands_of(launches), options.compute_s, context.level)
    findings = [*failures_of(launches, context.level, rows), *said_of(options, found), *on_run]
    doubted = any(not rate.sound for one in found for rate in one.rates.values())
    return SuiteSummary(rows, findings, uses_disturbed=doubted)


def _told(rows: Sequence[Row], launches: Iterable[Iterable[AnyRecord]], ranks: int) -> list[Row]:
    """Return rows that say what they are for, and what was done about the cache; those of the asked ``ranks`` first.

    They are of the run, measure rates, or tell how these change with the ranks.
    """
    cases = {item.case.case: item.case for item in join(launches)}
    found: list[Row] = []
    for row in rows:
        case = cases[row.case]
        own: dict[str, Scalar] = {
            "use": "run" if computes(case) else "rates" if row.params["ranks"] == ranks else "scaling",
            "cache": str(case.workload_parameters.get("cache", "none")),
        }
        found.append(row.model_copy(update={"params": {**row.params, **own}}))
    return sorted(found, key=lambda row: _USES.index(str(row.params["use"])))


def _with_share(one: Predicted, shares: Mapping[str, float]) -> Predicted:
    row = one.runs.get(ADJOINT)
    return one if row is None or not is_sound(row) else replace(one, measured_cached=shares.get(row.case))
