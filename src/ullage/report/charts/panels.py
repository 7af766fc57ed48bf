# SPDX-License-Identifier: Apache-2.0
"""A panel of rows as a chart: a line a block size over ranks, or bars of one rank count, and a map of all cells."""

import math
from collections.abc import Sequence
from typing import Final

from ullage.model.flags import interval_below
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.quantity import Scale, format_compact, format_param, format_quantity, format_row, param_label, scale_for
from ullage.report import points, verdicts
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.plots import HeatMap, layer, layered, quantity_axis, shade_positions
from ullage.report.texts import NO_VERDICT
from ullage.report.vega import ACCENT, INK, MUTED, Spec, ordered_colors, ordinal, rank_axis, verdict_shape
from ullage.report.view import Panel

WIDTH: Final = 410
HEIGHT: Final = 250
# A ceiling further up than this would press the measured lines flat; the caption names it instead.
_HIGHEST_CEILING: Final = 3.0
_MOST_IN_WORDS: Final = 2


def line_charts(data: ReportData) -> list[Figure]:
    """Return a figure for every panel."""
    panels = data.view.shown
    return [line_chart(panel, points.points_each(len(panels))) for panel in panels]


def line_chart(panel: Panel, most: int) -> Figure:
    """Draw one panel with ``most`` points at most; one or two numbers are a sentence."""
    if len(panel.rows) <= _MOST_IN_WORDS:
        numbers = [" ".join(filter(None, [points.setting_of(row, panel), _number(row)])) for row in panel.rows]
        return Figure(panel.title, " ".join(filter(None, [f"{'; '.join(numbers)}.", _ceiling_words(panel)])), {})
    scale = scale_for([row.median for row in panel.rows], panel.unit)
    if len(panel.xs) > 1:
        series = points.strongest_series(panel)
        xs = points.spread_out(panel.xs, min(points.MOST_XS, max(2, most // max(len(series), 1))))
        words = [
            points.omitted(len(series), len(panel.series), param_label(panel.series_key), "those with the best peaks"),
            points.omitted(len(xs), len(panel.xs), "rank count", "evenly picked"),
        ]
        spec = _line_spec(panel, series, xs, scale)
    else:
        series = points.strongest_series(panel, points.MOST_XS)
        words = [points.omitted(len(series), len(panel.series), param_label(panel.series_key), "the best")]
        rows = _rows_of(panel, series)
        title = param_label(panel.series_key) if series else ""
        x = ordinal("series", points.series_labels(panel, series) or [""], title, axis={"labelAngle": 0, "grid": False})
        y = quantity_axis("y", f"{panel.metric} ({scale.unit})")
        whisker = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
        has_whiskers = any(row.low is not None for row in rows)
        marker = {"x": x, "y": y, **verdict_shape(), "tooltip": points.ROW_TOOLTIP}
        layers = [
            layer({"type": "bar", "color": ACCENT, "opacity": 0.35, "width": {"band": 0.6}}, {"x": x, "y": y}),
            *([layer({"type": "rule", "color": INK, "strokeWidth": 1.4}, whisker)] if has_whiskers else []),
            layer({"type": "point", "fill": INK, "stroke": INK, "size": 50, "opacity": 1}, marker),
        ]
        spec = layered({"step": 52}, HEIGHT, layers, [points.point(row, panel, scale) for row in rows])
    caption = " ".join(
        filter(None, [_interval_words(panel), verdicts.caption(panel.rows), _ceiling_words(panel), *words])
    )
    return Figure(panel.title, caption, spec)


def _number(row: Row) -> str:
    return ", ".join(filter(None, [format_row(row), "" if row.verdict == NO_VERDICT else verdicts.headword(row)]))


def _line_spec(panel: Panel, series: Sequence[Scalar], xs: Sequence[Scalar], scale: Scale) -> Spec:
    rows = [row for row in _rows_of(panel, series) if row.params.get(panel.x_key) in xs]
    labels, title = points.series_labels(panel, series) or [""], param_label(panel.series_key)
    legend = {"title": title, "symbolType": "stroke", "symbolStrokeWidth": 3, "symbolOpacity": 1}
    colors = {"domain": labels, "range": ordered_colors(len(labels))}
    color = ordinal("series", labels, title, scale=colors, legend=legend if len(labels) > 1 else None)
    x = rank_axis(xs, "x", param_label(panel.x_key))
    y = quantity_axis("y", f"{panel.metric} ({scale.unit})")
    band = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "fill": color}
    marker = {"x": x, "y": y, "fill": color, "stroke": color, **verdict_shape(), "tooltip": points.ROW_TOOLTIP}
    has_bands = any(row.low is not None for row in rows)
    layers = [
        *_ceiling_layers(panel, xs, scale),
        *([layer({"type": "area", "fillOpacity": 0.16, "opacity": 1}, band)] if has_bands else []),
        layer({"type": "line", "strokeWidth": 2}, {"x": x, "y": y, "stroke": color}),
        layer({"type": "point", "filled": True, "fill": "white", "size": 46, "opacity": 1}, {"x": x, "y": y}),
        layer({"type": "point", "size": 46, "opacity": 1, "strokeWidth": 1.6}, marker),
    ]
    return layered(WIDTH, HEIGHT, layers, [points.point(row, panel, scale) for row in rows])


def _rows_of(panel: Panel, series: Sequence[Scalar]) -> list[Row]:
    return [row for row in panel.rows if row.params.get(panel.series_key) in (None, *series)]


def _ceiling_by_x(panel: Panel) -> dict[Scalar, float]:
    return {
        row.params[panel.x_key]: row.ceiling.value
        for row in panel.rows
        if row.ceiling is not None and panel.x_key in row.params
    }


def _ceiling_fits(panel: Panel) -> bool:
    values = _ceiling_by_x(panel).values()
    return bool(values) and min(values) <= _HIGHEST_CEILING * max(row.median for row in panel.rows)


def _ceiling_layers(panel: Panel, xs: Sequence[Scalar], scale: Scale) -> list[Spec]:
    if not _ceiling_fits(panel):
        return []
    by_x = _ceiling_by_x(panel)
    values = [{"x": x, "y": by_x[x] / scale.factor} for x in xs if x in by_x]
    encoding = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}}
    name = "best of this run" if all(row.is_beside_best for row in panel.rows if row.ceiling) else "ceiling"
    look = {"align": "left", "baseline": "bottom", "dy": -4, "color": MUTED, "fontSize": 11}
    return [
        layer({"type": "line", "strokeDash": [6, 4], "color": INK, "strokeWidth": 1.2}, encoding, values),
        layer({"type": "text", "text": name, **look}, encoding, values[:1]),
    ]


def _ceiling_words(panel: Panel) -> str:
    ceilings = {row.ceiling.value: row.ceiling for row in panel.rows if row.ceiling is not None}
    if not ceilings:
        return ""
    first = max(ceilings.values(), key=lambda ceiling: ceiling.value)
    place = "" if len(panel.xs) > 1 and _ceiling_fits(panel) else ", above the drawn range" if len(panel.xs) > 1 else ""
    value = format_quantity(first.value, panel.unit)
    if all(row.is_beside_best for row in panel.rows if row.ceiling is not None):
        return f"No ceiling is known; {first.source} ({value}){place}."
    return f"Ceiling {value} ({first.kind}: {first.source}){place}."


def _interval_words(panel: Panel) -> str:
    if all(row.low is None for row in panel.rows):
        return "One sample a point: no interval."
    short = any(row.has_flag(interval_below()) for row in panel.rows)
    what = "Bands" if len(panel.xs) > 1 else "Whiskers"
    return f"{what}: {'range of the repetitions (too few for 95 %)' if short else '95 % interval of the median'}."


LINES: Final = Chart(
    name="lines",
    title="Over ranks",
    doc="Each line is a block size. Filled marks were measured as asked. The caption says what hollow ones are.",
    order=10,
    build=line_charts,
)


_MOST_WITH_TEXT: Final = 12
_MAP_WIDTH: Final = 450


def heat_maps(data: ReportData) -> list[Figure]:
    """Return a figure for every panel that has two dimensions."""
    panels = [panel for panel in data.view.shown if len(panel.xs) > 1 and len(panel.series) > 1]
    return [heat_map(panel, points.points_each(len(panels))) for panel in panels]


def heat_map(panel: Panel, most: int) -> Figure:
    """Draw one panel that has at least two ranks and two blocks, with about ``most`` cells at most."""
    side = math.isqrt(most)
    xs = points.spread_out(panel.xs, max(side, most // max(len(panel.series), 1)))
    series = points.spread_out(panel.series, max(2, most // len(xs)))
    rows = [
        row for row in panel.rows if row.params.get(panel.x_key) in xs and row.params.get(panel.series_key) in series
    ]
    # With no unit in the cells, the caption says what the letters stand for.
    words = [
        f"Median in {panel.unit} with its prefix. The framed cell is the best.",
        verdicts.caption(rows),
        points.omitted(len(xs) * len(series), len(panel.xs) * len(panel.series), "cell", "evenly picked"),
    ]
    columns = [format_param(panel.x_key, x) for x in xs]
    found = HeatMap(
        *(columns, points.series_labels(panel, series), param_label(panel.x_key), param_label(panel.series_key)),
        width=_MAP_WIDTH,
        most_with_text=_MOST_WITH_TEXT,
        least_step=10,
        text_height=26,
        line_field="series",
    )
    shades = shade_positions([row.median for row in rows])
    cells = [_map_cell(row, panel, shade) for row, shade in zip(rows, shades, strict=True)]
    spec = found.spec(cells, points.ROW_TOOLTIP)
    return Figure(panel.title, " ".join(filter(None, words)), spec)


def _map_cell(row: Row, panel: Panel, position: float) -> Spec:
    return {
        **points.point(row, panel, scale_for([row.median], row.unit)),
        "column": format_param(panel.x_key, row.params[panel.x_key]),
        "label": format_compact(row.median, row.unit),
        "position": round(position, 4),
        "best": row is panel.best,
    }


HEAT_MAPS: Final = Chart(
    name="heatmap",
    title="Ranks by block size",
    doc="The same numbers as a map, where darker is more. A mark beside a number says that it was not "
    "measured as asked.",
    order=20,
    build=heat_maps,
)


CHARTS: Final = (LINES, HEAT_MAPS)
