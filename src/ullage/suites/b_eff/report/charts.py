# SPDX-License-Identifier: Apache-2.0
"""b_eff's ten figures: rings and further patterns by each method and the best, the methods, rings against random."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Final

from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.plots import log_axis, nominal, plot, short
from ullage.report.vega import INK, Spec, ordered_colors, tooltip
from ullage.suites.b_eff.formula import Values
from ullage.suites.b_eff.measured import METHODS, RING_COUNT, WORKLOAD, BEffRun, read_runs
from ullage.suites.b_eff.rows import B_EFF
from ullage.units import format_bytes

BEST: Final = "best"
TITLES: Final = {
    "sendrecv": "Sendrecv",
    "alltoallv": "Alltoallv",
    "nonblocking": "nonblocking",
    BEST: "the best method",
}
_SOLID: Final = (1, 0)
_DASHED: Final = (6, 4)
_DOTTED: Final = (2, 3)
_RANDOM: Final = "#d9742b"
_METHOD_COLORS: Final = ("#1f5f8b", "#d9742b", "#6b7a3a")
# One for each of thirteen lines; those of one kind have a hue.
_ADDITIONAL: Final = (
    *("#7b241c", "#1f5f8b", "#5fa8d3", INK, "#2e7d32", "#81c784"),
    *("#d9742b", "#e9a15b", "#8c4a14", "#7a4f9a", "#9f7fc0", "#c9b6dc", "#4a235a"),
)


@dataclass(frozen=True)
class Curve:
    """``points``: bytes and MB/s, by rising bytes. ``dash``: lengths of strokes and gaps."""

    name: str
    points: Sequence[tuple[int, float]]
    color: str
    dash: tuple[int, int] = _SOLID


def values_by(run: BEffRun, method: str) -> Values:
    """The maximum of the repetitions; of one method, or of all with ``best``."""
    return Values(run, methods=METHODS if method == BEST else [method])


def ring_curves(run: BEffRun, method: str) -> list[Curve]:
    """Six rings, and the worst, the mean and the best of the random ones."""
    values, colors = values_by(run, method), ordered_colors(RING_COUNT)
    rings = [
        _curve(run, name, lambda size, name=name: values.at(name, size), colors[index % RING_COUNT])
        for index, name in enumerate(run.rings)
    ]
    return _drawn([*rings, *_spread(run, run.random, values, "random", _RANDOM)])


def additional_curves(run: BEffRun, method: str) -> list[Curve]:
    """Patterns that are no part of b_eff."""
    values = values_by(run, method)
    return _drawn(
        [
            _curve(run, name, lambda size, name=name: values.at(name, size), _ADDITIONAL[index % len(_ADDITIONAL)])
            for index, name in enumerate(run.additional)
        ]
    )


def method_curves(run: BEffRun) -> list[Curve]:
    """b_eff of each size, by method, and with the best one."""
    found = [
        _curve(run, TITLES[method], values_by(run, method).b_eff_at, color)
        for method, color in zip(METHODS, _METHOD_COLORS, strict=True)
    ]
    return _drawn([*found, _curve(run, TITLES[BEST], values_by(run, BEST).b_eff_at, INK, _DASHED)])


def group_curves(run: BEffRun) -> list[Curve]:
    """Rings and random rings, the worst, the mean and the best of each, and what b_eff takes of both."""
    values = values_by(run, BEST)
    return _drawn(
        [
            *_spread(run, run.rings, values, "rings", _METHOD_COLORS[0]),
            *_spread(run, run.random, values, "random", _RANDOM),
            _curve(run, "average of both", values.b_eff_at, INK),
        ]
    )


def _spread(run: BEffRun, names: Sequence[str], values: Values, what: str, color: str) -> list[Curve]:
    def of(choose: Callable[[Sequence[float]], float]) -> Callable[[int], float | None]:
        return lambda size: choose(found) if (found := values.at_all(names, size)) else None

    return [
        _curve(run, f"{what}, best", of(max), color, _DOTTED),
        _curve(run, f"{what}, mean", of(geometric_mean), color),
        _curve(run, f"{what}, worst", of(min), color, _DASHED),
    ]


def _curve(
    run: BEffRun, name: str, of: Callable[[int], float | None], color: str, dash: tuple[int, int] = _SOLID
) -> Curve:
    found = [(bytes_, of(size)) for size, bytes_ in enumerate(run.sizes)]
    return Curve(name, [(x, y / run.ranks / 1e6) for x, y in found if y is not None and y > 0], color, dash)


def _drawn(curves: Sequence[Curve]) -> list[Curve]:
    return [curve for curve in curves if curve.points]


SUITE: Final = "b_eff"
MEGA: Final = 1e6


def runs_of(data: ReportData) -> list[BEffRun]:
    """With as many repetitions as the rows were made of; none for other suites."""
    counted = [len(row.repetitions) for row in data.rows_of(SUITE) if row.metric == B_EFF]
    if not counted:
        return []
    return read_runs((item for item in data.measured if item.case.workload == WORKLOAD), max(counted))


# -- figures -----------------------------------------------------------------------------------------------------------


_WIDTH: Final = 330
_HEIGHT: Final = 300
_FEWEST: Final = 3
_TOOLTIP: Final = tooltip(("name", "pattern"), ("size", "message"), ("text", "MB/s of a process"))
_BYTES: Final = (
    "datum.value >= 1048576 ? datum.value / 1048576 + 'M'"
    " : datum.value >= 1024 ? datum.value / 1024 + 'K' : datum.value"
)
_RINGS: Final = "Six sets of rings in rank order; of the random rings the worst, the geometric mean and the best."


def figures(data: ReportData) -> list[Figure]:
    """All ten, less those whose patterns were not measured."""
    return [figure for run in runs_of(data) for figure in _figures(run)]


def _figures(run: BEffRun) -> list[Figure]:
    found: list[tuple[str, str, Sequence[Curve]]] = []
    for method in (*METHODS, BEST):
        of = TITLES[method]
        found.append((f"rings and random rings, {of}", _RINGS, ring_curves(run, method)))
        found.append(
            (f"additional patterns, {of}", "These are no part of the value of b_eff.", additional_curves(run, method))
        )
    found.append(
        ("methods", "Of each size the value over rings and random rings, as b_eff averages them.", method_curves(run))
    )
    found.append(
        ("rings against random rings", "The wider they are apart, the more distance costs.", group_curves(run))
    )
    return [
        Figure(title, caption, _spec(curves))
        for title, caption, curves in found
        if any(len(curve.points) >= _FEWEST for curve in curves)
    ]


def _spec(curves: Sequence[Curve]) -> Spec:
    values = [_point(curve.name, x, y) for curve in curves for x, y in curve.points]
    names = [curve.name for curve in curves]
    legend = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2, "labelLimit": 160}
    color = nominal("name", names, [curve.color for curve in curves], legend)
    dash = nominal("name", names, [list(curve.dash) for curve in curves], legend)
    x, y = _axis("x", [value["x"] for value in values], "message"), _axis("y", [v["y"] for v in values], "MB/s")
    x["axis"] |= {"labelExpr": _BYTES, "values": _powers([value["x"] for value in values])}
    encoding = {"x": x, "y": y, "color": color, "strokeDash": dash, "tooltip": _TOOLTIP}
    mark = {"type": "line", "strokeWidth": 1.6, "point": {"size": 12}}
    return plot(_WIDTH, _HEIGHT, values, mark, encoding)


def _point(name: str, x: int, y: float) -> Spec:
    return {"x": x, "y": short(y), "name": name, "size": format_bytes(x), "text": f"{y:.4g}"}


def _axis(field: str, values: Sequence[float], title: str) -> Spec:
    words = "MB/s of a process" if field == "y" else title
    return log_axis(field, (min(values) / 1.2, max(values) * 1.2), words, grid=field == "y")


def _powers(values: Sequence[float]) -> list[int]:
    """Every 16-fold size."""
    return [16**power for power in range(math.floor(math.log(max(values), 16)) + 1)]


CHART: Final = Chart(
    name="b_eff",
    title="b_eff over the message size",
    doc="MB/s that a process sends, every message counted once; the maximum over the repetitions, as b_eff has it. "
    "Both axes are logarithmic.",
    order=5,
    build=figures,
)
