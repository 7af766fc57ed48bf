# SPDX-License-Identifier: Apache-2.0
"""Axes, lines of caches and colours that the charts of a memory run share."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from ullage.report.vega import INK, MUTED, Spec

WIDTH: Final = 560
HEIGHT: Final = 300
COLORS: Final = ("#1f5f8b", "#d9742b", "#6b7a3a", "#7a4f9a", "#8c564b")
_BYTES_LABEL: Final = (
    "datum.value >= 1073741824 ? datum.value / 1073741824 + 'G' : datum.value >= 1048576 ? datum.value / 1048576 + 'M'"
    " : datum.value >= 1024 ? datum.value / 1024 + 'K' : datum.value"
)
_STEPS: Final = 2


def size_axis(sizes: Sequence[int]) -> Spec:
    """Working sets in bytes on a logarithmic axis with ticks at every fourfold size."""
    low, high = min(sizes), max(sizes)
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    ticks = [1 << power for power in range(first, last + 1) if (power - first) % _STEPS == 0]
    scale = {"type": "log", "base": 2, "domain": [low / 1.2, high * 1.2], "nice": False}
    axis = {"values": ticks or [low], "labelExpr": _BYTES_LABEL, "grid": False, "labelOverlap": True}
    return {"field": "x", "type": "quantitative", "scale": scale, "axis": axis, "title": "working set"}


def log_axis(values: Iterable[float], title: str) -> Spec:
    """A logarithmic axis of plain numbers, ticks at 1, 2 and 5 of each power of ten."""
    found = list(values)
    low, high = min(found), max(found)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    within = [tick for tick in ticks if low / 1.5 <= tick <= high * 1.5]
    scale = {"type": "log", "domain": [low / 1.2, high * 1.2], "nice": False}
    axis = {"values": within, "format": "~g", "labelOverlap": True}
    return {"field": "y", "type": "quantitative", "scale": scale, "axis": axis, "title": title}


def cache_layers(caches: Sequence[tuple[str, int]], sizes: Sequence[int]) -> list[Spec]:
    """A dashed line with its name at the size of each cache that lies in the picture."""
    low, high = min(sizes), max(sizes)
    values = [{"x": size, "name": name} for name, size in caches if low <= size <= high]
    if not values:
        return []
    # Given in full: a layer without a scale of its own would begin the shared one at 0, which has no logarithm.
    x = {key: value for key, value in size_axis(sizes).items() if key != "axis"}
    line = {"type": "rule", "color": INK, "strokeDash": [5, 4], "strokeWidth": 1.1, "opacity": 0.7}
    text = {"type": "text", "baseline": "bottom", "y": -2, "color": MUTED, "fontSize": 11}
    return [
        {"data": {"values": values}, "mark": line, "encoding": {"x": x}},
        {"data": {"values": values}, "mark": text, "encoding": {"x": x, "text": {"field": "name", "type": "nominal"}}},
    ]


def color_of(field: str, names: Sequence[str], title: str = "") -> Spec:
    """A colour for each of ``names``; no legend where there is only one."""
    colors = [COLORS[index % len(COLORS)] for index in range(len(names))]
    legend = {"title": title or None, "symbolType": "stroke", "symbolStrokeWidth": 3, "labelLimit": 260}
    scale = {"domain": list(names), "range": colors}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend if len(names) > 1 else None}
