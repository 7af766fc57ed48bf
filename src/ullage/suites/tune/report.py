# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a search: the answer with its pairs, what each parameter does, every trial, what to do."""

from collections.abc import Mapping, Sequence
from typing import Final

from ullage.model.tuning import TuneObjective, TuneParameter, TuneTrial, Tuning
from ullage.quantity import DASH, format_quantity, percent, times
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure, Grid
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport
from ullage.report.grids import Column, grid_of, texts_grid
from ullage.report.plots import COLORS, layer, layered, nominal
from ullage.report.vega import Spec, ordinal, tooltip
from ullage.runs.tuning.trial_inputs import shell_line
from ullage.units import format_time, format_volume

_SUITE: Final = "tune"
_WIDTH, _HEIGHT = 300, 180


def result_of_search(data: ReportData) -> Content | None:
    """Return the answer, parameters, what to run, and the trials; None for other results."""
    tune = data.summary.tune
    if tune is None:
        return None
    cost, is_better = tune.cost, tune.confirmation is not None and tune.confirmation.answer == "better"
    # A best setting without proof is not recommended.
    to_do = f"Run with it: {shell_line(tune.environment, tune.preparation, tune.command)}"
    spent = (
        f"{cost.trials} trials took {format_time(cost.seconds)} and wrote {format_volume(cost.bytes)}. All "
        f"{cost.settings} settings once would take {format_time(cost.whole_seconds)} and "
        f"{format_volume(cost.whole_bytes)}."
    )
    return Content(notes=[tune.answer, *tune.tradeoffs, *([to_do] if is_better else []), spent], grids=_tables(tune))


def _tables(tune: Tuning) -> list[Grid]:
    names, goals = [one.name for one in tune.parameters], tune.objectives
    of_two = ("parameter", "and", "share of the variance together")
    of_front = [*names, *(goal.name for goal in goals), "trials"]
    of_trial = ["trial", "purpose", *names, *(goal.name for goal in goals), "verdict", "grade", "time", "written"]
    together = [(one.first, one.second, percent(one.share)) for one in tune.interactions]
    front = [
        [*(one.setting[name] for name in names), *_values(goals, one.values), str(one.trials)] for one in tune.front
    ]
    trials = [
        [
            *(str(one.number), one.purpose, *(one.setting[name] for name in names), *_values(goals, one.values)),
            *(
                one.verdict or DASH,
                one.grade or DASH,
                format_time(one.seconds),
                format_volume(one.bytes),
                _remarks(one),
            ),
        ]
        for one in tune.trials
    ]
    best = "Pareto front: no other setting has the higher mean in all objectives"
    return [
        *_parameters(tune),
        *texts_grid("Interactions", of_two, together, words=of_two[:2]),
        *texts_grid(best, of_front, front, words=names),
        *texts_grid("Trials", [*of_trial, "remarks"], trials, words=[*names, "purpose", "verdict", "grade", "remarks"]),
    ]


def _values(goals: Sequence[TuneObjective], values: Mapping[str, float]) -> list[str]:
    return [format_quantity(values[goal.name], goal.unit) if goal.name in values else DASH for goal in goals]


def _parameters(tune: Tuning) -> list[Grid]:
    columns: Sequence[Column[TuneParameter]] = (
        Column("parameter", lambda one: one.name, is_number=False),
        Column("default", lambda one: one.default, is_number=False),
        Column("best", lambda one: one.best, is_number=False),
        Column("share of the variance", lambda one: DASH if one.importance is None else percent(one.importance)),
        Column("expected at each value, times the default", _line, is_number=False),
    )
    return grid_of("Parameters", columns, tune.parameters)


def _line(one: TuneParameter) -> str:
    return ", ".join(f"{point.value}: {times(point.expected)}" for point in one.response)


def _remarks(one: TuneTrial) -> str:
    """Say why a trial does not count, or why it has fewer repetitions."""
    if one.reason:
        return one.reason
    if one.breaks:
        return f"breaks {one.breaks}"
    if one.default_there:
        return f"measured by an earlier search: {one.result}"
    return "a short trial" if one.is_proxy else "ended early, far below the best" if one.is_short else ""


def _responses(data: ReportData) -> list[Figure]:
    tune = data.summary.tune
    return [] if tune is None else [_response(one) for one in tune.parameters if one.response]


def _response(one: TuneParameter) -> Figure:
    values: list[Spec] = [
        {
            "value": point.value,
            "expected": round(point.expected, 4),
            "low": round(point.low, 4),
            "high": round(point.high, 4),
            "trials": point.trials,
        }
        for point in one.response
    ]
    x = ordinal("value", list(one.values), one.name)
    y: Spec = {"field": "expected", "type": "quantitative", "title": "times the default", "scale": {"zero": False}}
    tip = tooltip("value expected low high trials", value=one.name)
    bars = layer({"type": "rule"}, {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "tooltip": tip})
    points = layer({"type": "point", "filled": True, "size": 60}, {"x": x, "y": y, "tooltip": tip})
    share = "" if one.importance is None else f", {percent(one.importance)} of the variance"
    return Figure(
        title=f"{one.name}{share}",
        caption=f"Best: {one.best}; default: {one.default}. The other parameters are as in the best setting.",
        spec=layered(_WIDTH, _HEIGHT, [bars, points], values),
    )


def _pareto(data: ReportData) -> list[Figure]:
    """Draw all settings in two objectives, those of the front with a mark of their own."""
    tune = data.summary.tune
    if tune is None or len(tune.objectives) < 2:
        return []
    first, second = tune.objectives[:2]
    on_front = [one.setting for one in tune.front]
    values: list[Spec] = [
        {
            "first": one.values[first.name],
            "second": one.values[second.name],
            "setting": " ".join(f"{name}={value}" for name, value in one.setting.items()),
            "kind": "on the front" if one.setting in on_front else "others",
        }
        for one in tune.trials
        if not one.reason and not one.breaks and not one.is_proxy
    ]
    kinds = nominal("kind", ["on the front", "others"], [COLORS[1], COLORS[0]], {"title": None, "orient": "top"})
    tip = tooltip("setting first second", first=first.name, second=second.name)
    x, y = _axis("first", first), _axis("second", second)
    points = layer({"type": "point", "filled": True, "size": 60}, {"x": x, "y": y, "color": kinds, "tooltip": tip})
    return [
        Figure(
            title="Pareto front",
            caption="Each point is a trial. The front is of settings, by the means of their trials.",
            spec=layered(_WIDTH, _HEIGHT, [points], values),
        )
    ]


def _axis(field: str, goal: TuneObjective) -> Spec:
    title = f"{goal.name} in {goal.unit}" if goal.unit else goal.name
    axis: Spec = {"format": "~s", "labelOverlap": True}
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False}, "axis": axis}


_REPORT: Final = PartOfReport(_SUITE, "other", 10)
SECTION: Final = _REPORT.section(
    "Search for the best setting",
    "The default and the best setting are compared by fresh trials in alternating pairs. A Gaussian "
    "process over all trials predicts the expected values.",
    result_of_search,
)
CHARTS: Final = (
    _REPORT.chart(
        "tune_response",
        "Response to each parameter",
        "The objective expected at each value, as a multiple of the default's, with an interval of 95 %.",
        _responses,
        order=11,
    ),
    _REPORT.chart(
        "tune_front",
        "Several objectives",
        "Trials in two objectives. Settings that no other is better than in all objectives are on the front.",
        _pareto,
        order=12,
    ),
)
ANSWER: Final = AnswerRule(
    _SUITE,
    "Which setting is best, and is it better than the default?",
    "tuned tune-tradeoff tune-importance",
    "tune-cost tune-failed tune-broken",
)
