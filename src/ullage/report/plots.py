# SPDX-License-Identifier: Apache-2.0
"""The kit of charts: lines, bars, heat maps and rooflines from rows of plain values, as Vega-Lite dicts.

``vega`` has the palette and the pieces below these. A builder takes ready axes, so that charts of different suites
look alike and each says only what is its own.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ullage.model.summary import Row
from ullage.quantity import DASH, format_bounds, format_quantity, format_row, rounded
from ullage.report.vega import ACCENT, INK, MUTED, Spec, ordinal, tooltip, verdict_shape
from ullage.report.verdicts import classify

COLORS: Final = ("#1f5f8b", "#d9742b", "#6b7a3a", "#7a4f9a", "#8c564b", "#2a9d8f")
"""Colours for names without an order. They differ with every common colour blindness, the first five the most."""
SHADES: Final = ("#eef4f8", "#c9ddea", "#8fb9d3", "#4f8fb6", "#1f5f8b", "#0f3d5e")
LOG_FROM_RATIO: Final = 20.0
"""Shades of values that are further apart than this follow their logarithm."""
_BYTES_LABEL: Final = (
    "datum.value >= 1073741824 ? datum.value / 1073741824 + 'G' : datum.value >= 1048576 ? datum.value / 1048576 + 'M'"
    " : datum.value >= 1024 ? datum.value / 1024 + 'K' : datum.value"
)
_STEPS: Final = 2
_PALETTE_OF_CURVES: Final = 5


def quantity_axis(field: str, title: str, **more: object) -> Spec:
    """Return a linear axis from 0, unless ``more`` has another scale."""
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": True}, **more}


def log_axis(field: str, domain: tuple[float, float], title: str, **axis: object) -> Spec:
    """Return a logarithmic axis of plain numbers over exactly ``domain``."""
    scale = {"type": "log", "domain": list(domain), "nice": False}
    look = {"format": "~g", "labelOverlap": True, **axis}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": look, "title": title}


def decade_axis(values: Iterable[float], title: str) -> Spec:
    """Return a logarithmic axis ``y`` around ``values``, ticks at 1, 2 and 5 of each power of ten."""
    found = [value for value in values if value > 0] or [1.0]  # the others have no place on it
    low, high = min(found), max(found)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    within = [tick for tick in ticks if low / 1.5 <= tick <= high * 1.5]
    return log_axis("y", (low / 1.2, high * 1.2), title, values=within)


def size_axis(sizes: Sequence[int], title: str = "working set") -> Spec:
    """Return an axis ``x`` of bytes on a logarithmic scale with ticks at every fourfold size."""
    low, high = min(sizes), max(sizes)
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    ticks = [1 << power for power in range(first, last + 1) if (power - first) % _STEPS == 0]
    scale = {"type": "log", "base": 2, "domain": [low / 1.2, high * 1.2], "nice": False}
    axis = {"values": ticks or [low], "labelExpr": _BYTES_LABEL, "grid": False, "labelOverlap": True}
    return {"field": "x", "type": "quantitative", "scale": scale, "axis": axis, "title": title}


def nominal(field: str, names: Sequence[str], looks: Sequence[object], legend: Spec | None) -> Spec:
    """Return a channel that has a colour, or a dash, for each of ``names``."""
    scale = {"domain": list(names), "range": list(looks)}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


def curve_colors(field: str, names: Sequence[str]) -> Spec:
    """Return a channel that has a colour for each of ``names``; no legend where there is only one."""
    colors = [COLORS[index % _PALETTE_OF_CURVES] for index in range(len(names))]
    legend: Spec = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3, "labelLimit": 260}
    return nominal(field, names, colors, legend if len(names) > 1 else None)


def plot(width: int, height: int | Spec, values: Sequence[Spec], mark: Spec, encoding: Spec) -> Spec:
    """Return a chart with one mark for all of ``values``."""
    return {"width": width, "height": height, "data": {"values": list(values)}, "mark": mark, "encoding": encoding}


def layer(mark: Spec, encoding: Spec, values: Sequence[Spec] | None = None, shown: str = "") -> Spec:
    """Return one mark of several; without ``values`` for those of all layers. ``shown``: an expression that filters."""
    data: Spec = {} if values is None else {"data": {"values": list(values)}}
    some: Spec = {"transform": [{"filter": shown}]} if shown else {}
    return {**data, **some, "mark": mark, "encoding": encoding}


def layered(
    width: int | Spec, height: int | Spec, layers: Sequence[Spec], values: Sequence[Spec] | None = None
) -> Spec:
    """Lay layers over each other; ``values`` are those of all layers that have none of their own."""
    data: Spec = {} if values is None else {"data": {"values": list(values)}}
    return {"width": width, "height": height, **data, "layer": list(layers)}


def row_point(row: Row, x: object, /, **words: object) -> Spec:
    """Return the point of a row at ``x``, with ``words`` that a legend or a tooltip shows beside its median."""
    return {"x": x, "y": rounded(row.median), **words, "text": format_row(row), "flags": ", ".join(row.flag_codes)}


def interval_point(
    row: Row, at: str, factor: float, show: Callable[[float], str], place: Spec, **words: object
) -> Spec:
    """Return the point of a row at ``place`` with its interval, in units of ``factor``, and what its tooltip shows.

    ``show`` writes the median out; ``words`` are shown beside it.
    """
    low, high = (None if end is None else rounded(end / factor) for end in (row.low, row.high))
    measured = classify(row)
    return {
        **place,
        at: rounded(row.median / factor),
        "low": low,
        "high": high,
        "text": f"{show(row.median)} {format_bounds(row)}".rstrip(),
        **words,
        "measured": measured.label,
        "hollow": not measured.filled,
        "verdict": row.verdict,
        "flags": ", ".join(row.flag_codes) or DASH,
    }


def line_mark(size: int) -> Spec:
    """Return a mark that is a line with its points."""
    return {"type": "line", "strokeWidth": 2, "point": {"filled": True, "size": size}}


def line_layers(
    line: Spec, tip: list[Spec], size: int, values: Sequence[Spec] | None = None, points: Spec | None = None
) -> list[Spec]:
    """Return a line, and points with a tooltip on it. ``points``: their encoding where it is not that of the line."""
    dot = {"type": "point", "filled": True, "size": size}
    return [
        layer({"type": "line", "strokeWidth": 2}, line, values),
        layer(dot, {**(points or line), "tooltip": tip}, values),
    ]


def upright_layers(marks: Sequence[tuple[str, int]], sizes: Sequence[int], title: str = "working set") -> list[Spec]:
    """Mark each of ``marks`` that lies in the picture, on the ``size_axis`` of that title, by a named dashed line."""
    low, high = min(sizes), max(sizes)
    values = [{"x": size, "name": name} for name, size in marks if low <= size <= high]
    if not values:
        return []
    # The scale is given in full: a layer without one would begin the shared scale at 0, which has no logarithm.
    x = _without_axis(size_axis(sizes, title))
    line = {"type": "rule", "color": INK, "strokeDash": [5, 4], "strokeWidth": 1.1, "opacity": 0.7}
    text = {"type": "text", "baseline": "bottom", "y": -2, "color": MUTED, "fontSize": 11}
    return [layer(line, {"x": x}, values), layer(text, {"x": x, "text": {"field": "name", "type": "nominal"}}, values)]


def bar_names(labels: Sequence[str], limit: int | None = None, field: str = "name") -> Spec:
    """Return the channel ``y`` of bars that lie on their side, with the names before them."""
    more = {} if limit is None else {"labelLimit": limit}
    return ordinal(field, labels, "", axis={"grid": False, "ticks": False, **more})


def bar_layer(place: Spec, x: Spec, color: Spec, tip: list[Spec]) -> Spec:
    """Return bars on their side that begin at the field ``floor``: a logarithmic axis has no 0 to begin at."""
    return layer({"type": "bar"}, {**place, "x": x, "x2": {"field": "floor"}, "color": color, "tooltip": tip})


def decade_floor(least: float) -> float:
    """Return the power of ten below ``least`` at which bars of a logarithmic axis begin."""
    return 10.0 ** math.floor(math.log10(least) - 0.05)


@dataclass(frozen=True)
class HeatMap:
    """Columns and lines in their order, with what they are called. A map of few cells has its numbers written in."""

    columns: Sequence[str]
    lines: Sequence[str]
    column_title: str
    line_title: str
    width: int
    most_with_text: int
    least_step: int
    text_height: int
    line_field: str = "line"
    column_axis: Mapping[str, Any] | None = None
    line_axis: Mapping[str, Any] | None = None

    @property
    def with_text(self) -> bool:
        """Whether the numbers fit."""
        return len(self.columns) <= self.most_with_text and len(self.lines) <= 2 * self.most_with_text

    @property
    def step(self) -> int:
        """Width of a cell in pixels."""
        return min(max(self.width // len(self.columns), 46 if self.with_text else self.least_step), 84)

    def place(self) -> Spec:
        """Return the channels ``x`` and ``y``, by the fields ``column`` and ``line_field``."""
        bare = {"domain": False, "ticks": False}
        across = {"labelAngle": 0, **(self.column_axis or {})}
        x = ordinal("column", self.columns, self.column_title, axis={"orient": "bottom", **across, **bare})
        y = ordinal(self.line_field, self.lines, self.line_title, axis={**(self.line_axis or {}), **bare})
        return {"x": x, "y": y}

    def spec(self, cells: Sequence[Spec], tip: list[Spec], bare_height: int = 14, more: Sequence[Spec] = ()) -> Spec:
        """Draw ``cells`` by ``position``, ``best``, ``label`` and ``hollow``; ``more`` layers are drawn over them."""
        layers = [*cell_layers(self.place(), tip, self.step if self.with_text else None), *more]
        height = self.text_height if self.with_text else bare_height
        return layered({"step": self.step}, {"step": height}, layers, cells)


def cell_layers(place: Spec, tip: list[Spec], label_step: int | None) -> list[Spec]:
    """Shade cells by the fields ``position`` (0 to 1) and ``best``; with texts where a step of pixels is given."""
    shades = {"range": list(SHADES), "domain": [0, 1]}
    shade = {"field": "position", "type": "quantitative", "scale": shades, "legend": None}
    frame = {"type": "rect", "fill": None, "stroke": "#d55e00", "strokeWidth": 2}
    return [
        layer({"type": "rect", "stroke": "white", "strokeWidth": 1}, {**place, "color": shade, "tooltip": tip}),
        {"mark": frame, "transform": [{"filter": "datum.best"}], "encoding": place},
        *(_cell_labels(place, label_step) if label_step is not None else []),
    ]


def _cell_labels(place: Spec, step: int) -> list[Spec]:
    """Write the number in each cell, and in its corner the mark of what was not measured as asked."""
    ink = {"condition": {"test": "datum.position > 0.55", "value": "white"}, "value": INK}
    text = {**place, "text": {"field": "label", "type": "nominal"}, "color": ink}
    marker = {"type": "point", "size": 22, "opacity": 1, "xOffset": step / 2 - 8, "yOffset": -7, "strokeWidth": 1.2}
    marked = {**place, "shape": verdict_shape()["shape"], "stroke": ink}
    return [
        {"mark": {"type": "text", "fontSize": 10.5}, "encoding": text},
        {"mark": marker, "transform": [{"filter": "datum.hollow"}], "encoding": marked},
    ]


def shade_positions(values: Sequence[float]) -> list[float]:
    """Return the shade of each of ``values``, 0 to 1.

    Shades follow the logarithm where the values above 0 are further apart than ``LOG_FROM_RATIO``.
    """
    known = [value for value in values if value > 0]
    wide = bool(known) and max(known) / min(known) > LOG_FROM_RATIO
    return [shade_position(value, known, logarithmic=wide) for value in values]


def shade_position(value: float, known: list[float], *, logarithmic: bool) -> float:
    """Return the shade of ``value``, 0 to 1: its share of the largest of ``known``.

    Where ``logarithmic``, it is the place between the logarithms of the least and the largest. It is 0 for a value not
    above 0, and 0.5 where all of ``known`` are equal.
    """
    if not known or value <= 0 or max(known) == min(known):
        return 0.5 if known and value > 0 else 0.0
    if logarithmic:
        return math.log(value / min(known)) / math.log(max(known) / min(known))
    return value / max(known)


_GIGA: Final = 1e9
_LEAST_X: Final = 1 / 32
_MOST_X: Final = 512.0
_ROOF_SIZE: Final = (560, 320)
_WORK_COLOR: Final = "#d9742b"
_ROOF_TOOLTIP: Final = tooltip("name text note", name="", text="", note="")


@dataclass(frozen=True)
class Roof:
    """A line of a roofline: a horizontal in operations/s, or a slope in bytes/s."""

    name: str
    value: float
    note: str


@dataclass(frozen=True)
class Work:
    """A point under a roofline: operations a byte, and operations/s."""

    name: str
    intensity: float
    rate: float
    note: str


def roofline(peaks: Sequence[Roof], slopes: Sequence[Roof], works: Sequence[Work]) -> Spec:
    """Draw attainable operations/s = min(peak, intensity x bandwidth) (Williams, Waterman, Patterson 2009).

    ``peaks`` and ``slopes`` come highest first. ``works`` are placed by the least bytes that they have to move.
    """
    top = peaks[0].value
    most_x = max([_MOST_X, *(2 * work.intensity for work in works)])
    values: list[Spec] = []
    for slope in slopes:
        text = f"{slope.name}: {format_quantity(slope.value, 'B/s')}"
        ends = (_LEAST_X, top / slope.value)
        values += [_roof_point(x, x * slope.value, text, slope.note) for x in ends if ends[1] > _LEAST_X]
    for peak in peaks:
        text = f"{peak.name}: {format_quantity(peak.value, 'op/s')}"
        start = max(_LEAST_X, peak.value / slopes[0].value) if slopes else _LEAST_X
        values += [_roof_point(x, peak.value, text, peak.note) for x in (start, most_x)]
    ys = [value["y"] for value in values] + [work.rate / _GIGA for work in works]
    x = log_axis("x", (_LEAST_X, most_x), "operations a byte", tickCount=8)
    y = log_axis("y", (min(ys) / 1.5, max(ys) * 1.6), "Gop/s", tickCount=8)
    line = {"x": x, "y": y, "detail": {"field": "name", "type": "nominal"}, "tooltip": _ROOF_TOOLTIP}
    layers: list[Spec] = [
        {"data": {"values": values}, "mark": {"type": "line", "strokeWidth": 2, "color": ACCENT}, "encoding": line},
        _roof_labels([value for value in values if value["x"] == most_x], x, y, "right"),
    ]
    if slopes:
        layers.append(_roof_labels([value for value in values if value["x"] == _LEAST_X], x, y, "left"))
    if works:
        layers += _work_layers(works, x, y)
    return layered(*_ROOF_SIZE, layers)


def _roof_point(x: float, y: float, text: str, note: str) -> Spec:
    return {"x": rounded(x) if x not in (_LEAST_X, _MOST_X) else x, "y": y / _GIGA, "name": text, "note": note}


def _roof_labels(values: Sequence[Spec], x: Spec, y: Spec, align: str) -> Spec:
    """Write names at the ends of the lines: above horizontals, below slopes."""
    place = {"baseline": "bottom", "dy": -3} if align == "right" else {"baseline": "top", "dx": 14, "dy": -6}
    mark = {"type": "text", "align": align, "color": MUTED, "fontSize": 11, **place}
    encoding = {"x": _without_axis(x), "y": _without_axis(y), "text": {"field": "name", "type": "nominal"}}
    return {"data": {"values": list(values)}, "mark": mark, "encoding": encoding}


def _work_layers(works: Sequence[Work], x: Spec, y: Spec) -> list[Spec]:
    values = [
        {
            "x": work.intensity,
            "y": work.rate / _GIGA,
            "name": work.name,
            "text": format_quantity(work.rate, "op/s"),
            "note": work.note,
        }
        for work in works
    ]
    place = {"x": _without_axis(x), "y": _without_axis(y)}
    dot = {"type": "point", "filled": True, "size": 90, "color": _WORK_COLOR, "opacity": 1}
    name = {"type": "text", "dy": 15, "align": "center", "color": INK, "fontSize": 12}
    return [
        {"data": {"values": values}, "mark": dot, "encoding": {**place, "tooltip": _ROOF_TOOLTIP}},
        {"data": {"values": values}, "mark": name, "encoding": {**place, "text": {"field": "name", "type": "nominal"}}},
    ]


def _without_axis(channel: Spec) -> Spec:
    """Return the same scale without its axis, which is drawn once."""
    return {key: value for key, value in channel.items() if key != "axis"}
