# SPDX-License-Identifier: Apache-2.0
"""Pieces of the original's plots: its x axis, its logarithmic y axis, its corner labels."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.report.vega import INK, MUTED, Spec
from ullage.suites.b_eff_io.patterns import X_LABELS, X_POSITIONS
from ullage.units import format_bytes

# The original's: from first to last decade, in MB/s, and the ends of its x axis.
WHOLE: Final = (-1, 5)
_X_ENDS: Final = (0.5, 10.5)
_LINE: Final = 12
# The part of a plot's height that its corner labels take.
_HEADROOM: Final = 0.3
ORIGINAL_AXIS: Final = "originalAxis"
OPTION: Final[Spec] = {
    "name": ORIGINAL_AXIS,
    "value": False,
    "bind": {"input": "checkbox", "name": "the original's axis, 0.1 to 100000 MB/s "},
}
"""A box below the plots; a picture in a file has it as it stands."""
TYPE_COLORS: Final = {
    "scatter": "#1f5f8b",
    "shared": "#d9742b",
    "separated": "#3d8b4f",
    "segmented": "#7a4f9a",
    "seg_coll": INK,
}
ACCESS_COLORS: Final = {"write": "#d9742b", "rewrite": "#7a4f9a", "read": "#1f5f8b"}


@dataclass(frozen=True)
class Decades:
    """The part of the logarithmic axis that holds data, as powers of ten of MB/s; ``top`` leaves room for labels."""

    low: int
    high: int
    top: float


def decades_of(values: Sequence[float]) -> Decades:
    """Whole decades below and above all of ``values``, which are above 0."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    needed = low + (math.log10(max(values)) - low) / (1 - _HEADROOM)
    return Decades(low, high, max(float(high), needed))


def x_axis(lmax_bytes: int) -> Spec:
    """Well-formed sizes and those with 8 bytes more, side by side as in the original."""
    named = {X_POSITIONS[size]: label for size, label in X_LABELS.items()}
    if lmax_bytes:
        named[X_POSITIONS["Lmax"]] = format_bytes(lmax_bytes)
    cases = " : ".join(f"datum.value === {place} ? '{label}'" for place, label in named.items())
    axis = {"values": list(named), "labelExpr": f"{cases} : ''", "grid": False, "labelOverlap": False, "labelAngle": 0}
    scale = {"domain": list(_X_ENDS), "nice": False}
    return {"field": "x", "type": "quantitative", "title": None, "scale": scale, "axis": axis}


def y_axis(decades: Decades, title: str) -> Spec:
    """As far as there is data, or as far as the original's goes."""
    low, high = min(WHOLE[0], decades.low), max(WHOLE[1], decades.high)
    ends = ((10.0**low, 10.0**decades.low), (10.0**high, 10.0**decades.top))
    domain = [{"expr": f"{ORIGINAL_AXIS} ? {whole:g} : {clipped:.6g}"} for whole, clipped in ends]
    ticks = f"{ORIGINAL_AXIS} ? {_powers(low, high)} : {_powers(decades.low, math.floor(decades.top))}"
    axis = {"values": {"expr": ticks}, "format": "~g", "titlePadding": 4}
    scale = {"type": "log", "domain": domain, "nice": False}
    return {"field": "y", "type": "quantitative", "title": title or None, "scale": scale, "axis": axis}


def _powers(low: int, high: int) -> str:
    return "[" + ", ".join(f"{10.0**power:g}" for power in range(low, high + 1)) + "]"


def corner(lines: Sequence[str], width: int) -> Spec:
    """Labels in the upper right corner, as the original has them."""
    return _label(lines, {"x": width - 4, "y": 4, "align": "right", "baseline": "top", "color": INK})


def note(lines: Sequence[str], width: int, height: int) -> Spec:
    """Words in the lower right corner."""
    place = {"x": width - 4, "y": height - 4 - _LINE * (len(lines) - 1), "align": "right", "baseline": "bottom"}
    return _label(lines, {**place, "color": MUTED})


def _label(lines: Sequence[str], look: Mapping[str, object]) -> Spec:
    mark = {"type": "text", "text": list(lines), "fontSize": 9.5, "lineHeight": _LINE, **look}
    return {"data": {"values": [{}]}, "mark": mark}


def color(field: str, title: str, colors: Mapping[str, str], names: Sequence[str]) -> Spec:
    """Of lines and points; the legend stands above a row of plots."""
    legend = {"title": title, "orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3, "symbolOpacity": 1}
    scale = {"domain": list(names), "range": [colors[name] for name in names]}
    return {"field": field, "type": "nominal", "sort": list(names), "scale": scale, "legend": legend}
