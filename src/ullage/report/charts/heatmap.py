# SPDX-License-Identifier: Apache-2.0
"""Every cell of ranks by block size with its number in it."""

import math
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import format_compact, format_param, param_label, scale_for
from ullage.report import verdicts
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.points import ROW_TOOLTIP, omitted, point, points_each, series_labels, spread_out
from ullage.report.vega import INK, Spec, ordinal, verdict_shape
from ullage.report.view import Panel

_MOST_WITH_TEXT: Final = 12
_WIDTH: Final = 450
LOG_FROM_RATIO: Final = 20.0
SHADES: Final = ("#eef4f8", "#c9ddea", "#8fb9d3", "#4f8fb6", "#1f5f8b", "#0f3d5e")


def build(data: ReportData) -> list[Figure]:
    """A figure for every panel that has two dimensions."""
    panels = [panel for panel in data.view.shown if len(panel.xs) > 1 and len(panel.series) > 1]
    return [figure(panel, points_each(len(panels))) for panel in panels]


def figure(panel: Panel, most: int) -> Figure:
    """The picture of one panel that has at least two ranks and two blocks, of about ``most`` cells at most."""
    side = math.isqrt(most)
    xs = spread_out(panel.xs, max(side, most // max(len(panel.series), 1)))
    series = spread_out(panel.series, max(2, most // len(xs)))
    rows = [
        row
        for row in panel.rows
        if row.params.get(panel.x_key) in set(xs) and row.params.get(panel.series_key) in set(series)
    ]
    # With no unit in the cells, the caption says what the letters stand for.
    caption = " ".join(
        filter(
            None,
            [
                f"Median in {panel.unit} with its prefix. The framed cell is the best.",
                verdicts.caption(rows),
                omitted(len(xs) * len(series), len(panel.xs) * len(panel.series), "cell", "evenly picked"),
            ],
        )
    )
    return Figure(
        panel.title,
        caption,
        _spec(panel, rows, [format_param(panel.x_key, x) for x in xs], series_labels(panel, series)),
    )


def _spec(panel: Panel, rows: list[Row], xs: list[str], series: list[str]) -> Spec:
    with_text = len(xs) <= _MOST_WITH_TEXT and len(series) <= 2 * _MOST_WITH_TEXT
    step = min(max(_WIDTH // len(xs), 46 if with_text else 10), 84)
    bare = {"domain": False, "ticks": False}
    x = ordinal("column", xs, param_label(panel.x_key), axis={"labelAngle": 0, "orient": "bottom", **bare})
    y = ordinal("series", series, param_label(panel.series_key), axis=bare)
    place = {"x": x, "y": y}
    medians = [row.median for row in rows if row.median > 0]
    wide = bool(medians) and max(medians) / min(medians) > LOG_FROM_RATIO
    layers = cell_layers(place, ROW_TOOLTIP, step if with_text else None)
    values = [_cell(row, panel, shade_position(row.median, medians, logarithmic=wide)) for row in rows]
    size = {"width": {"step": step}, "height": {"step": 26 if with_text else 14}}
    return {**size, "data": {"values": values}, "layer": layers}


def cell_layers(place: Spec, tip: list[Spec], label_step: int | None) -> list[Spec]:
    """Shaded cells by the fields ``position`` (0 to 1) and ``best``; with texts where a step of pixels is given."""
    shades = {"range": list(SHADES), "domain": [0, 1]}
    shade = {"field": "position", "type": "quantitative", "scale": shades, "legend": None}
    frame = {"type": "rect", "fill": None, "stroke": "#d55e00", "strokeWidth": 2}
    return [
        {
            "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1},
            "encoding": {**place, "color": shade, "tooltip": tip},
        },
        {"mark": frame, "transform": [{"filter": "datum.best"}], "encoding": place},
        *(cell_labels(place, label_step) if label_step is not None else []),
    ]


def cell_labels(place: Spec, step: int) -> list[Spec]:
    """The number in each cell, and in its corner the mark of what was not measured as asked."""
    ink = {"condition": {"test": "datum.position > 0.55", "value": "white"}, "value": INK}
    text = {**place, "text": {"field": "label", "type": "nominal"}, "color": ink}
    marker = {"type": "point", "size": 22, "opacity": 1, "xOffset": step / 2 - 8, "yOffset": -7, "strokeWidth": 1.2}
    marked = {**place, "shape": verdict_shape()["shape"], "stroke": ink}
    return [
        {"mark": {"type": "text", "fontSize": 10.5}, "encoding": text},
        {"mark": marker, "transform": [{"filter": "datum.hollow"}], "encoding": marked},
    ]


def _cell(row: Row, panel: Panel, position: float) -> Spec:
    return {
        **point(row, panel, scale_for([row.median], row.unit)),
        "column": format_param(panel.x_key, row.params[panel.x_key]),
        "label": format_compact(row.median, row.unit),
        "position": round(position, 4),
        "best": row is panel.best,
    }


def shade_position(value: float, medians: list[float], *, logarithmic: bool) -> float:
    """Where ``value`` stands between the least and the largest, 0 to 1."""
    if not medians or value <= 0 or max(medians) == min(medians):
        return 0.5 if medians and value > 0 else 0.0
    if logarithmic:
        return math.log(value / min(medians)) / math.log(max(medians) / min(medians))
    return value / max(medians)


CHART: Final = Chart(
    name="heatmap",
    title="Ranks by block size",
    doc="The same numbers as a map; darker is more. A mark beside a number says that it was not measured as asked.",
    order=20,
    build=build,
)
CHARTS: Final = (CHART,)
