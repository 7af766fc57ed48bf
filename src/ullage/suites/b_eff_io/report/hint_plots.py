# SPDX-License-Identifier: Apache-2.0
"""Sets of MPI-IO hints against the default, pattern by pattern, on a logarithmic scale of ratios."""

import math
from collections.abc import Sequence
from typing import Final

from ullage.analysis.statistics import compare
from ullage.quantity import format_row, significant
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.vega import INK, Spec, tooltip
from ullage.suites.b_eff_io.hint_findings import HintRatio, ratios
from ullage.suites.b_eff_io.hint_lines import DEFAULT_SET
from ullage.suites.b_eff_io.patterns import ACCESSES, TYPES, X_POSITIONS
from ullage.suites.b_eff_io.report.plots import x_axis
from ullage.suites.b_eff_io.report.sheets import Sheet, best_sheets, sheets_of, title_of
from ullage.suites.b_eff_io.rows import PATTERN, select

_WIDTH: Final = 184
_HEIGHT: Final = 170
_MOST_FIGURES: Final = 2
_MOST_SETS: Final = 6
_COLORS: Final = ("#d9742b", "#1f5f8b", "#3d8b4f", "#7a4f9a", "#a15c00", "#5fa8d3")
_PLACES: Final[dict[str, int]] = {**X_POSITIONS}
_TOOLTIP: Final = tooltip(
    ("set", "hints"),
    ("place", "pattern"),
    ("text", "with them"),
    ("base", "without"),
    ("ratio", "ratio"),
    ("outcome", "they make it"),
)


def figures(data: ReportData) -> list[Figure]:
    """A figure for each target and partition that was measured with several sets."""
    sheets = sheets_of(data)
    groups: dict[tuple[str, int], list[Sheet]] = {}
    for sheet in sheets:
        groups.setdefault((sheet.target, sheet.ranks), []).append(sheet)
    several = {id(found[0]): found for found in groups.values() if len(found) > 1}
    shown = best_sheets([found[0] for found in several.values()], _MOST_FIGURES)
    made = [_figure(several[id(first)], [found[0] for found in groups.values()]) for first in shown]
    return [figure for figure in made if figure is not None]


def _figure(group: Sequence[Sheet], all_: Sequence[Sheet]) -> Figure | None:
    rows = select([row for sheet in group for row in sheet.rows], PATTERN)
    names = [sheet.hint_set for sheet in group]
    base = DEFAULT_SET if DEFAULT_SET in names else names[0]
    found = [one for one in ratios(rows, base) if str(one.row.params["size"]) in _PLACES and one.ratio > 0]
    others = list(dict.fromkeys(one.hint_set for one in found))[:_MOST_SETS]
    found = [one for one in found if one.hint_set in others]
    if not found:
        return None
    points = [_point(one) for one in found]
    title = f"{title_of(group[0], all_)}: against {base}"
    return Figure(title, _caption(points, others), _spec(points, others, group[0].lmax_bytes, base), wide=True)


def _point(one: HintRatio) -> Spec:
    row, params = one.row, one.row.params
    result = compare(row.repetitions, one.base.repetitions, better=row.better)
    return {
        "x": _PLACES[str(params["size"])],
        "y": float(f"{one.ratio:.4g}"),
        "low": None if result.low is None else float(f"{result.low:.4g}"),
        "high": None if result.high is None else float(f"{result.high:.4g}"),
        "set": one.hint_set,
        "access": params["access"],
        "type": params["pattern_type"],
        "place": f"{params['access']}, {params['pattern_type']}, {params['size']}",
        "text": format_row(row),
        "base": format_row(one.base),
        "ratio": significant(one.ratio),
        "outcome": result.verdict,
        "unsure": result.verdict == "cannot tell",
    }


def _caption(points: Sequence[Spec], names: Sequence[str]) -> str:
    words: list[str] = []
    for name in names:
        of = [point["outcome"] for point in points if point["set"] == name]
        counts = {outcome: of.count(outcome) for outcome in ("faster", "slower", "cannot tell")}
        words.append(
            f"{name} makes {counts['faster']} of {len(of)} patterns faster and {counts['slower']} slower; of "
            f"{counts['cannot tell']} one cannot tell."
        )
    hollow = any(point["unsure"] for point in points)
    return " ".join([*words, "Hollow marks: cannot tell, as with one repetition." if hollow else ""]).strip()


def _spec(points: Sequence[Spec], names: Sequence[str], lmax_bytes: int, base: str) -> Spec:
    accesses = [access for access in ACCESSES if any(point["access"] == access for point in points)]
    kinds = [kind for kind in TYPES if any(point["type"] == kind for point in points)]
    scale = {"domain": list(names), "range": [_COLORS[index % len(_COLORS)] for index in range(len(names))]}
    legend = {
        "title": "hints",
        "orient": "top",
        "columns": 3,
        "symbolType": "stroke",
        "symbolStrokeWidth": 3,
        "symbolOpacity": 1,
        "labelLimit": 240,
    }
    colors = {"field": "set", "type": "nominal", "sort": list(names), "scale": scale, "legend": legend}
    x, y = x_axis(lmax_bytes), _ratio_axis(points, base)
    x["axis"] |= {"labelFontSize": 9.5}
    place = {"x": x, "y": y, "stroke": colors}
    filling = {"fillOpacity": {"condition": {"test": "datum.unsure", "value": 0}, "value": 1}}
    whisker = {**place, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    one = {"y": {"datum": 1, "type": "quantitative"}, "stroke": {"value": INK}}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "strokeWidth": 1, "strokeDash": [4, 3]}, "encoding": one},
        {"mark": {"type": "line", "strokeWidth": 1.4, "opacity": 0.8}, "encoding": place},
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "strokeWidth": 1.2, "opacity": 0.7, "clip": True},
            "encoding": whisker,
        },
        {
            "mark": {"type": "point", "size": 30, "opacity": 1, "strokeWidth": 1.4},
            "encoding": {**place, "fill": colors, **filling, "tooltip": _TOOLTIP},
        },
    ]
    head = {"title": None, "labelFontSize": 11.5, "labelFontWeight": 600, "labelColor": INK}
    label = "datum.value === 'write' ? 'first write' : datum.value"
    facet = {
        "row": {"field": "access", "type": "nominal", "sort": accesses, "header": {**head, "labelExpr": label}},
        "column": {"field": "type", "type": "nominal", "sort": kinds, "header": {**head, "labelAnchor": "start"}},
    }
    plot = {"width": _WIDTH, "height": _HEIGHT, "layer": layers}
    return {"data": {"values": list(points)}, "facet": facet, "spec": plot, "spacing": 16}


def _ratio_axis(points: Sequence[Spec], base: str) -> Spec:
    """Whole decades, or steps of 2 and 5 where the ratios are near each other; 1 is always on it."""
    values = [1.0, *(point["y"] for point in points)]
    low, high = min(values) / 1.25, max(values) * 1.25
    steps = (1, 2, 5) if high / low < 200 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    scale = {"type": "log", "domain": [float(f"{low:.4g}"), float(f"{high:.4g}")], "nice": False}
    axis = {"grid": True, "values": [float(f"{tick:g}") for tick in ticks], "format": "~g"}
    return {"field": "y", "type": "quantitative", "title": f"times {base}", "scale": scale, "axis": axis}


CHART: Final = Chart(
    name="b_eff_io_hints",
    title="Hints against each other",
    doc="How many times faster each pattern is with a set of hints than without, on a logarithmic scale: above the "
    "dashed line results are better, below it they are worse. A pattern that no set moves resists optimisation.",
    order=5,
    build=figures,
)
