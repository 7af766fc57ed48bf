# SPDX-License-Identifier: Apache-2.0
"""Throughput over the number of streams, and percentiles of the round trip."""

from typing import Final

from ullage.quantity import format_row
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.plots import layered, line_layers, quantity_axis, short
from ullage.report.vega import INK, Spec, ordered_colors, ordinal, rank_axis, time_axis, tooltip
from ullage.suites.network.report.tables import Line, own_lines

_RATE_WIDTH: Final = 410
_RATE_HEIGHT: Final = 250
_RATE_GIGABIT: Final = 1e9 / 8
_METRIC: Final = "network_bandwidth"
_RATE_TOOLTIP: Final = tooltip(
    ("series", "what"), ("x", "streams"), ("text", "throughput"), ("peer", "peer"), ("flags", "flags")
)
# A ceiling further up than this would press the measured lines flat; the table has it.
_HIGHEST_CEILING: Final = 3.0


def rate_figures(data: ReportData) -> list[Figure]:
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
    return [Figure("throughput over streams", caption, _rate_spec(curves))]


def _rate_spec(curves: dict[str, list[Line]]) -> Spec:
    values = [_rate_point(line, name) for name, found in curves.items() for line in found]
    names = list(curves)
    streams = sorted({line.streams for found in curves.values() for line in found})
    x = rank_axis(streams, "x", "streams")
    y = quantity_axis("y", "throughput (Gb/s)")
    colors = {"domain": names, "range": ordered_colors(len(names))}
    encoding = {"x": x, "y": y, "color": ordinal("series", names, "", scale=colors)}
    rule = {**encoding, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "opacity": 0.5}, "encoding": rule},
        *line_layers(encoding, _RATE_TOOLTIP, 36),
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
    return layered(_RATE_WIDTH, _RATE_HEIGHT, layers, values)


def _ceiling(curves: dict[str, list[Line]], highest: float) -> float | None:
    values = [
        row.ceiling.value / _RATE_GIGABIT
        for found in curves.values()
        for line in found
        if (row := line.rows[_METRIC]).ceiling is not None
    ]
    return values[0] if values and values[0] <= _HIGHEST_CEILING * highest else None


def _rate_point(line: Line, name: str) -> Spec:
    row = line.rows[_METRIC]
    low = row.median if row.low is None else row.low
    high = row.median if row.high is None else row.high
    beside = None if row.peer is None else row.peer.median / _RATE_GIGABIT
    return {
        "x": line.streams,
        "y": short(row.median / _RATE_GIGABIT),
        "low": short(low / _RATE_GIGABIT),
        "high": short(high / _RATE_GIGABIT),
        "beside": None if beside is None else short(beside),
        "series": name,
        "text": format_row(row),
        "peer": "" if row.peer is None else f"{row.peer.tool} {row.peer.version}",
        "flags": ", ".join(row.flag_codes),
    }


RATE_CHART: Final = Chart(
    name="network_rates",
    title="Network: streams",
    doc="What arrives when several streams share the way. On the loopback this ends where the cores do.",
    order=7,
    build=rate_figures,
)


# -- percentiles of the round trip -------------------------------------------------------------------------------------


_LATENCY_WIDTH: Final = 410
_LATENCY_HEIGHT: Final = 250
_PERCENTILES: Final = {
    "latency_p50": "50 %",
    "latency_p95": "95 %",
    "latency_p99": "99 %",
    "latency_p999": "99.9 %",
    "latency_max": "all",
}
_LATENCY_TOOLTIP: Final = tooltip(
    ("series", "what"), ("x", "of the round trips"), ("text", "stay below"), ("flags", "flags")
)


def latency_figures(data: ReportData) -> list[Figure]:
    """One figure, of one request at a time; none without."""
    lines = [
        line for line in own_lines(data) if not line.is_stream and line.streams == 1 and "latency_p50" in line.rows
    ]
    if not lines:
        return []
    caption = "One request at a time; each point is the median over the repetitions."
    return [Figure("round trips", caption, _latency_spec(lines))]


def _latency_spec(lines: list[Line]) -> Spec:
    values = [
        _latency_point(line, metric, word)
        for line in lines
        for metric, word in _PERCENTILES.items()
        if metric in line.rows
    ]
    names = list(dict.fromkeys(line.series for line in lines))
    colors = {"domain": names, "range": ordered_colors(len(names))}
    encoding = {
        "x": ordinal("x", list(_PERCENTILES.values()), "of the round trips", axis={"labelAngle": 0, "grid": False}),
        "y": time_axis([value["y"] for value in values], "y", "stay below"),
        "color": ordinal("series", names, "", scale=colors),
    }
    return layered(_LATENCY_WIDTH, _LATENCY_HEIGHT, line_layers(encoding, _LATENCY_TOOLTIP, 36), values)


def _latency_point(line: Line, metric: str, word: str) -> Spec:
    row = line.rows[metric]
    return {
        "x": word,
        "y": short(row.median),
        "series": line.series,
        "text": format_row(row),
        "flags": ", ".join(row.flag_codes),
    }


LATENCY_CHART: Final = Chart(
    name="network_latency",
    title="Network: round trips",
    doc="There and back on one clock, from the median to the slowest. The way up on the right is what jitters.",
    order=7,
    build=latency_figures,
)
