# SPDX-License-Identifier: Apache-2.0
"""Rings and pairs side by side: our repetitions, their median, and hpcc's."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.quantity import Scale, format_row, scale_for
from ullage.report.vega import ACCENT, INK, MUTED, Spec, ordinal, tooltip

_SUITE: Final = "rings"
_LABELS: Final = {
    ("ping_pong_most", "ping-pong"): "ping-pong, most",
    ("ping_pong", "ping-pong"): "ping-pong, mean",
    ("ping_pong_least", "ping-pong"): "ping-pong, least",
    ("ring", "natural"): "natural ring",
    ("ring", "random"): "random rings",
}
_PEER_COLOR: Final = "#d9742b"


def build(data: ReportData) -> list[Figure]:
    """One of latency, one of bandwidth; none without rings."""
    rows = data.rows_of(_SUITE)
    found = [
        _figure("latency of 8 bytes", "latency", [row for row in rows if row.metric.endswith("latency")]),
        _figure("bandwidth of each process, 2,000,000 bytes", "bandwidth", [r for r in rows if r.unit == "B/s"]),
    ]
    return [figure for figure in found if figure is not None]


def _figure(title: str, kind: str, rows: Sequence[Row]) -> Figure | None:
    by_label = {label: row for row in rows if (label := _label(row, kind))}
    shown = [(label, by_label[label]) for label in _LABELS.values() if label in by_label]
    if not shown:
        return None
    scale = scale_for([row.median for _, row in shown], shown[0][1].unit)
    caption = "Bars are medians, dots the repetitions."
    if any(row.peer is not None for _, row in shown):
        caption += " The orange stroke is the median of hpcc, which ran in turn."
    return Figure(title, caption, _spec(shown, kind, scale))


def _label(row: Row, kind: str) -> str:
    return _LABELS.get((row.metric.removesuffix(f"_{kind}"), str(row.params.get("order"))), "")


def _spec(shown: Sequence[tuple[str, Row]], kind: str, scale: Scale) -> Spec:
    labels = [label for label, _ in shown]
    y = ordinal("name", labels, "", axis={"title": None, "grid": False, "labelLimit": 200})
    x = {"field": "x", "type": "quantitative", "title": f"{kind} ({scale.unit})", "scale": {"zero": True}}
    bars = [{"name": label, "x": row.median / scale.factor, "text": format_row(row)} for label, row in shown]
    dots = [{"name": label, "x": value / scale.factor} for label, row in shown for value in row.repetitions]
    peers = [
        {"name": label, "x": row.peer.median / scale.factor, "text": f"{row.peer.tool} {row.peer.version}"}
        for label, row in shown
        if row.peer is not None
    ]
    tips = tooltip(("name", "what"), ("text", kind))
    layers: list[Spec] = [
        {
            "data": {"values": bars},
            "mark": {"type": "bar", "color": ACCENT, "opacity": 0.35, "height": {"band": 0.6}},
            "encoding": {"x": x, "y": y, "tooltip": tips},
        },
        {
            "data": {"values": dots},
            "mark": {"type": "point", "filled": True, "color": INK, "size": 22, "opacity": 0.7},
            "encoding": {"x": x, "y": y},
        },
    ]
    if peers:
        stroke = {"type": "tick", "color": _PEER_COLOR, "thickness": 3, "height": {"band": 0.75}}
        layers.append(
            {"data": {"values": peers}, "mark": stroke, "encoding": {"x": x, "y": y, "tooltip": tips}},
        )
    return {"width": 360, "height": {"step": 34}, "layer": layers, "config": {"axisY": {"labelColor": MUTED}}}


CHART: Final = Chart(
    name="rings",
    title="Rings and ping-pong",
    doc="How much of what a single pair has is left to each process when all send at once.",
    order=5,
    build=build,
)
