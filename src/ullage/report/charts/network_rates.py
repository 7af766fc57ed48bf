# SPDX-License-Identifier: Apache-2.0
"""Throughput over the number of streams, a line for each protocol and block."""

from typing import Final

from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.network.rows import Line, own_lines
from ullage.report.quantity import format_row
from ullage.report.vega import INK, Spec, ordered_colors, ordinal, rank_axis, tooltip

_WIDTH: Final = 410
_HEIGHT: Final = 250
_GIGABIT: Final = 1e9 / 8
_METRIC: Final = "network_bandwidth"
_TOOLTIP: Final = tooltip(
    ("series", "what"), ("x", "streams"), ("text", "throughput"), ("peer", "peer"), ("flags", "flags")
)
# A ceiling further up than this would press the measured lines flat; the table has it.
_HIGHEST_CEILING: Final = 3.0


def build(data: ReportData) -> list[Figure]:
    """One figure; none where there is one number of streams only."""
    lines = [line for line in own_lines(data) if line.is_stream and _METRIC in line.rows]
    by_series: dict[str, list[Line]] = {}
    for line in lines:
        by_series.setdefault(line.series, []).append(line)
    curves = {name: found for name, found in by_series.items() if len(found) > 1}
    if not curves:
        return []
    has_peer = any(line.rows[_METRIC].peer is not None for found in curves.values() for line in found)
    caption = "Bars: interval of the median." + (" Crosses: the peer's median." if has_peer else "")
    return [Figure("throughput over streams", caption, _spec(curves))]


def _spec(curves: dict[str, list[Line]]) -> Spec:
    values = [_point(line, name) for name, found in curves.items() for line in found]
    names = list(curves)
    streams = sorted({line.streams for found in curves.values() for line in found})
    x = rank_axis(streams, "x", "streams")
    y = {"field": "y", "type": "quantitative", "title": "throughput (Gb/s)", "scale": {"zero": True}}
    colors = {"domain": names, "range": ordered_colors(len(names))}
    encoding = {"x": x, "y": y, "color": ordinal("series", names, "", scale=colors)}
    rule = {**encoding, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "opacity": 0.5}, "encoding": rule},
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": encoding},
        {"mark": {"type": "point", "filled": True, "size": 36}, "encoding": {**encoding, "tooltip": _TOOLTIP}},
        {
            "transform": [{"filter": "datum.beside != null"}],
            "mark": {"type": "point", "shape": "cross", "size": 40},
            "encoding": {**encoding, "y": {**y, "field": "beside"}},
        },
    ]
    ceiling = _ceiling(curves, max(value["y"] for value in values))
    if ceiling is not None:
        line = {"type": "rule", "strokeDash": [6, 4], "color": INK, "strokeWidth": 1.2}
        layers.append({"data": {"values": [{"y": ceiling}]}, "mark": line, "encoding": {"y": y}})
    return {"width": _WIDTH, "height": _HEIGHT, "data": {"values": values}, "layer": layers}


def _ceiling(curves: dict[str, list[Line]], highest: float) -> float | None:
    values = [
        row.ceiling.value / _GIGABIT
        for found in curves.values()
        for line in found
        if (row := line.rows[_METRIC]).ceiling is not None
    ]
    return values[0] if values and values[0] <= _HIGHEST_CEILING * highest else None


def _point(line: Line, name: str) -> Spec:
    row = line.rows[_METRIC]
    low = row.median if row.low is None else row.low
    high = row.median if row.high is None else row.high
    beside = None if row.peer is None else row.peer.median / _GIGABIT
    return {
        "x": line.streams,
        "y": float(f"{row.median / _GIGABIT:.5g}"),
        "low": float(f"{low / _GIGABIT:.5g}"),
        "high": float(f"{high / _GIGABIT:.5g}"),
        "beside": None if beside is None else float(f"{beside:.5g}"),
        "series": name,
        "text": format_row(row),
        "peer": "" if row.peer is None else f"{row.peer.tool} {row.peer.version}",
        "flags": ", ".join(row.flags),
    }


CHART: Final = Chart(
    name="network_rates",
    title="Network: streams",
    doc="What arrives when several streams share the way. On the loopback this ends where the cores do.",
    order=7,
    build=build,
)
