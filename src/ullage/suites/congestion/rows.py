# SPDX-License-Identifier: Apache-2.0
"""Rows of a congestion run: every test alone and under load, and the one over the other."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ullage.analysis.metrics import metric_named
from ullage.analysis.metrics.messages import CONGESTED, ISOLATED, state_of
from ullage.analysis.statistics import median_interval
from ullage.model.flags import each_once
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.results.records import AnyRecord
from ullage.results.row_checks import check_values
from ullage.results.rows import Measured, RowContext, TargetFacts, build_rows, join
from ullage.runs.kernels.places import MPI
from ullage.suites.congestion.prepare import WORKLOAD

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

METRICS: Final = ("congestion_time", "congestion_time_p99", "congestion_bandwidth")
IMPACT: Final = "congestion_impact"
IMPACT_P99: Final = "congestion_impact_p99"
IMPACTS: Final = {"congestion_time": IMPACT, "congestion_time_p99": IMPACT_P99}
TESTS: Final = ("latency", "bandwidth", "allreduce")
_GRADES: Final = "ABC"


def congestion_rows(launches: Iterable[Sequence[AnyRecord]], context: RowContext) -> list[Row]:
    """Rows of the phases, then the impacts."""
    records = list(launches)
    measured = [item for item in join(records) if item.case.workload == WORKLOAD]
    cases = {item.case.case: item for item in measured}
    targets = {**context.targets, MPI.name: TargetFacts(holds_data=False, is_place=False)}
    found = build_rows(records, replace(context, accesses=(), metrics=METRICS, targets=targets))
    rows = [_told(row, cases[row.case]) for row in found if row.case in cases]
    return [*rows, *_impacts(rows, measured, context.level)]


def _told(row: Row, item: Measured) -> Row:
    phase = str(row.params["access"])
    test, _, state = phase.rpartition("-")
    params: dict[str, Scalar] = {
        "access": phase,
        "load": str(item.case.workload_parameters.get("load", "incast")),
        "test": test,
        "state": state,
        "ranks": row.params["ranks"],
        "nodes": row.params["nodes"],
        "victims": int(item.phase.gauges["victims"].most),
    }
    return row.model_copy(update={"params": params})


def _impacts(rows: Sequence[Row], measured: Sequence[Measured], level: float) -> list[Row]:
    """Congested over isolated, repetition by repetition."""
    pairs: dict[tuple[str, str], dict[int, dict[str, PhaseRecord]]] = {}
    for item in measured:
        state = state_of(item.phase)
        if state is not None:
            by_repetition = pairs.setdefault((item.case.case, state[0]), {})
            by_repetition.setdefault(item.phase.repetition, {})[state[1]] = item.phase
    states = {(row.case, row.metric, str(row.params["test"]), str(row.params["state"])): row for row in rows}
    found: list[Row] = []
    for (case, test), by_repetition in pairs.items():
        both = [phases for phases in by_repetition.values() if len(phases) == len((ISOLATED, CONGESTED))]
        for metric in IMPACTS:
            alone = states.get((case, metric, test, ISOLATED))
            beside = states.get((case, metric, test, CONGESTED))
            if alone is not None and beside is not None and (values := _ratios(both, metric)):
                found.append(_impact(alone, beside, values, level))
    return found


def _ratios(both: Iterable[dict[str, PhaseRecord]], metric: str) -> list[float]:
    sample = metric_named(metric).sample
    pairs = [(sample(phases[ISOLATED]), sample(phases[CONGESTED])) for phases in both]
    return [beside / alone for alone, beside in pairs if alone and beside]


def _impact(alone: Row, beside: Row, values: Sequence[float], level: float) -> Row:
    """Its flags are those of the launch, and its own."""
    interval = median_interval(values, level)
    own = check_values(values, interval, None, None)
    kept = [flag for flag in beside.flags if alone.has_flag(flag.code) and not flag.is_of_repetitions]
    return beside.model_copy(
        update={
            "metric": IMPACTS[beside.metric],
            "unit": "x",
            "params": {**{key: value for key, value in beside.params.items() if key != "state"}},
            "median": interval.median,
            "low": interval.low if len(values) > 1 else None,
            "high": interval.high if len(values) > 1 else None,
            "repetitions": list(values),
            "grade": max((alone.grade or "A", beside.grade or "A"), key=_GRADES.index),
            "flags": each_once([*kept, *own]),
        }
    )
