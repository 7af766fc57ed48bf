# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a search: the answer with its pairs, what each parameter does, every trial, what to do."""

import shlex
from collections.abc import Callable, Sequence
from typing import Final

from ullage.model.tuning import TuneObjective, TuneParameter, TuneTrial, Tuning
from ullage.quantity import DASH, format_quantity, times
from ullage.report.answers import AnswerRule
from ullage.report.contents import Chart, Content, Figure, Grid, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, texts_grid
from ullage.report.plots import layer, layered
from ullage.report.vega import Spec, ordinal, tooltip
from ullage.units import format_time, format_volume

_SUITE: Final = "tune"
_PART: Final = "other"
_WIDTH, _HEIGHT = 300, 180


def result_of_search(data: ReportData) -> Content | None:
    """Return the answer, parameters, what to run, and the trials; None for other results."""
    tune = data.summary.tune
    if tune is None:
        return None
    grids = [
        *_parameters(tune),
        *_interactions(tune),
        *_front(tune),
        *_trials("Trials", tune, tune.trials),
    ]
    return Content(notes=[tune.answer, *tune.tradeoffs, *_to_do(tune), _cost(tune)], grids=grids)


def _to_do(tune: Tuning) -> list[str]:
    """Say how to run with a setting that is proved to be better; a best setting without proof is not recommended."""
    if tune.confirmation is None or tune.confirmation.answer != "better":
        return []
    exports = [f"export {name}={shlex.quote(value)}" for name, value in tune.environment.items()]
    return [f"Run with it: {'; '.join([*exports, shlex.join(tune.command)])}"]


def _cost(tune: Tuning) -> str:
    cost = tune.cost
    return (
        f"{cost.trials} trials took {format_time(cost.seconds)} and wrote {format_volume(cost.bytes)}. All "
        f"{cost.settings} settings once would take {format_time(cost.whole_seconds)} and "
        f"{format_volume(cost.whole_bytes)}."
    )


def _parameters(tune: Tuning) -> list[Grid]:
    columns: Sequence[Column[TuneParameter]] = (
        Column("parameter", lambda one: one.name, is_number=False),
        Column("default", lambda one: one.default, is_number=False),
        Column("best", lambda one: one.best, is_number=False),
        Column("share of the variance", lambda one: DASH if one.importance is None else f"{one.importance:.0%}"),
        Column("expected at each value, times the default", _line, is_number=False),
    )
    return grid_of("Parameters", columns, tune.parameters)


def _line(one: TuneParameter) -> str:
    return ", ".join(f"{point.value}: {times(point.expected)}" for point in one.response)


def _interactions(tune: Tuning) -> list[Grid]:
    lines = [[one.first, one.second, f"{one.share:.0%}"] for one in tune.interactions]
    heads = ("parameter", "and", "share of the variance together")
    return texts_grid("Interactions", heads, lines, words=heads[:2])


def _front(tune: Tuning) -> list[Grid]:
    on_front = [one for one in tune.trials if one.number in tune.front]
    return _trials("Pareto front: no other trial is better in all objectives", tune, on_front)


def _trials(title: str, tune: Tuning, trials: Sequence[TuneTrial]) -> list[Grid]:
    columns: list[Column[TuneTrial]] = [
        Column("trial", lambda one: str(one.number)),
        Column("purpose", lambda one: one.purpose, is_number=False),
        *[Column(one.name, _setting_of(one.name), is_number=False) for one in tune.parameters],
        *[Column(goal.name, _value_of(goal)) for goal in tune.objectives],
        Column("time", lambda one: format_time(one.seconds)),
        Column("written", lambda one: format_volume(one.bytes)),
        Column("why it failed", lambda one: one.reason, is_number=False),
    ]
    return grid_of(title, columns, trials)


def _setting_of(name: str) -> Callable[[TuneTrial], str]:
    return lambda one: one.setting[name]


def _value_of(goal: TuneObjective) -> Callable[[TuneTrial], str]:
    return lambda one: format_quantity(one.values[goal.name], goal.unit) if goal.name in one.values else DASH


# -- what each parameter does, as a chart ------------------------------------------------------------------------------


def responses(data: ReportData) -> list[Figure]:
    """Draw a figure for each parameter with an expected response."""
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
    tip = tooltip(("value", one.name), ("expected", "expected"), ("low", "low"), ("high", "high"), ("trials", "trials"))
    bars = layer({"type": "rule"}, {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "tooltip": tip})
    points = layer({"type": "point", "filled": True, "size": 60}, {"x": x, "y": y, "tooltip": tip})
    share = "" if one.importance is None else f", {one.importance:.0%} of the variance"
    return Figure(
        title=f"{one.name}{share}",
        caption=f"Best: {one.best}; default: {one.default}. The other parameters are as in the best setting.",
        spec=layered(_WIDTH, _HEIGHT, [bars, points], values),
    )


SECTIONS: Final = (
    Section(
        name="tune",
        title="Search for the best setting",
        doc="The default and the best setting are compared by fresh trials in alternating pairs. Expected values are "
        "of a Gaussian process over all trials.",
        order=10,
        part=_PART,
        build=result_of_search,
        suite=_SUITE,
    ),
)
CHARTS: Final = (
    Chart(
        name="tune_response",
        title="Response to each parameter",
        doc="The objective expected at each value, as a multiple of the default's, with an interval of 95 %.",
        order=11,
        build=responses,
        part=_PART,
    ),
)
ANSWERS: Final = (
    AnswerRule(
        _SUITE,
        "Which setting is best, and is it better than the default?",
        ("tuned", "tune-tradeoff", "tune-importance"),
        ("tune-cost", "tune-failed"),
    ),
)
