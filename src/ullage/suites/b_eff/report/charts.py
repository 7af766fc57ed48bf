# SPDX-License-Identifier: Apache-2.0
"""b_eff's ten figures: rings and further patterns by each method and the best, the methods, rings against random."""

import math
from collections.abc import Sequence
from typing import Final

from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.vega import Spec, tooltip
from ullage.suites.b_eff.measured import METHODS, BEffRun
from ullage.suites.b_eff.report.curves import (
    BEST,
    TITLES,
    Curve,
    additional_curves,
    group_curves,
    method_curves,
    ring_curves,
    runs_of,
)
from ullage.units import format_bytes

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
    color = {
        "field": "name",
        "type": "nominal",
        "legend": legend,
        "scale": {"domain": names, "range": [curve.color for curve in curves]},
    }
    dash = {
        "field": "name",
        "type": "nominal",
        "legend": legend,
        "scale": {"domain": names, "range": [list(curve.dash) for curve in curves]},
    }
    x, y = _axis("x", [value["x"] for value in values], "message"), _axis("y", [v["y"] for v in values], "MB/s")
    x["axis"] |= {"labelExpr": _BYTES, "values": _powers([value["x"] for value in values])}
    encoding = {"x": x, "y": y, "color": color, "strokeDash": dash, "tooltip": _TOOLTIP}
    mark = {"type": "line", "strokeWidth": 1.6, "point": {"size": 12}}
    return {"width": _WIDTH, "height": _HEIGHT, "data": {"values": values}, "mark": mark, "encoding": encoding}


def _point(name: str, x: int, y: float) -> Spec:
    return {"x": x, "y": float(f"{y:.5g}"), "name": name, "size": format_bytes(x), "text": f"{y:.4g}"}


def _axis(field: str, values: Sequence[float], title: str) -> Spec:
    scale = {"type": "log", "domain": [min(values) / 1.2, max(values) * 1.2], "nice": False}
    axis = {"grid": field == "y", "labelOverlap": True, "format": "~g"}
    words = "MB/s of a process" if field == "y" else title
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis, "title": words}


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
