# SPDX-License-Identifier: Apache-2.0
"""Percentiles of the round trip, a line for each protocol and message."""

from typing import Final

from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.network.rows import Line, own_lines
from ullage.report.quantity import format_row
from ullage.report.vega import Spec, ordered_colors, ordinal, time_axis, tooltip

_WIDTH: Final = 410
_HEIGHT: Final = 250
_PERCENTILES: Final = {
    "latency_p50": "50 %",
    "latency_p95": "95 %",
    "latency_p99": "99 %",
    "latency_p999": "99.9 %",
    "latency_max": "all",
}
_TOOLTIP: Final = tooltip(("series", "what"), ("x", "of the round trips"), ("text", "stay below"), ("flags", "flags"))


def build(data: ReportData) -> list[Figure]:
    """One figure, of one request at a time; none without."""
    lines = [
        line for line in own_lines(data) if not line.is_stream and line.streams == 1 and "latency_p50" in line.rows
    ]
    if not lines:
        return []
    caption = "One request at a time; each point is the median over the repetitions."
    return [Figure("round trips", caption, _spec(lines))]


def _spec(lines: list[Line]) -> Spec:
    values = [
        _point(line, metric, word) for line in lines for metric, word in _PERCENTILES.items() if metric in line.rows
    ]
    names = list(dict.fromkeys(line.series for line in lines))
    colors = {"domain": names, "range": ordered_colors(len(names))}
    encoding = {
        "x": ordinal("x", list(_PERCENTILES.values()), "of the round trips", axis={"labelAngle": 0, "grid": False}),
        "y": time_axis([value["y"] for value in values], "y", "stay below"),
        "color": ordinal("series", names, "", scale=colors),
    }
    point = {"type": "point", "filled": True, "size": 36}
    layers: list[Spec] = [
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": encoding},
        {"mark": point, "encoding": {**encoding, "tooltip": _TOOLTIP}},
    ]
    return {"width": _WIDTH, "height": _HEIGHT, "data": {"values": values}, "layer": layers}


def _point(line: Line, metric: str, word: str) -> Spec:
    row = line.rows[metric]
    return {
        "x": word,
        "y": float(f"{row.median:.5g}"),
        "series": line.series,
        "text": format_row(row),
        "flags": ", ".join(row.flags),
    }


CHART: Final = Chart(
    name="network_latency",
    title="Network: round trips",
    doc="There and back on one clock, from the median to the slowest. The way up on the right is what jitters.",
    order=7,
    build=build,
)
