# SPDX-License-Identifier: Apache-2.0
"""Kernels side by side on a logarithmic scale with their ceilings, and how the best of each type grow with threads."""

import math
from collections.abc import Sequence
from typing import Final

from ullage.report.contents import Chart, Figure
from ullage.report.cpu.rows import Line, best_of, best_of_types, lines_of, thread_counts
from ullage.report.data import ReportData
from ullage.report.quantity import DASH, format_quantity, format_row, format_share, plural
from ullage.report.vega import INK, Spec, ordered_colors, ordinal, rank_axis, tooltip

_GIGA: Final = 1e9
_STEP: Final = 17
_FEWEST_COUNTS: Final = 3
_BAR_TOOLTIP: Final = tooltip(("name", "kernel"), ("text", "median"), ("ceiling_text", "ceiling"), ("share", "of it"))
_LINE_TOOLTIP: Final = tooltip(("name", "kernel"), ("x", "threads"), ("text", "over 1 thread"))


def build(data: ReportData) -> list[Figure]:
    """Bars with the most threads, and lines where there are three thread counts or more."""
    kernels = [line for line in lines_of(data) if line.is_kernel and line.rate.median > 0]
    counts = thread_counts(kernels)
    if not counts:
        return []
    found = [_bars(best_of_each([line for line in kernels if line.threads == counts[-1]]), counts[-1])]
    return [*found, *([_scaling(kernels, counts)] if len(counts) >= _FEWEST_COUNTS else [])]


def best_of_each(kernels: Sequence[Line]) -> list[Line]:
    """Of each type and instruction set the fastest operation; types in the order of the lines, the fastest first."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in kernels:
        groups.setdefault((line.type, str(line.params["isa"])), []).append(line)
    types = list(dict.fromkeys(type_ for type_, _ in groups))
    found = [best for group in groups.values() if (best := best_of(group)) is not None]
    return sorted(found, key=lambda line: (types.index(line.type), -line.rate.median))


def _bars(kernels: Sequence[Line], threads: int) -> Figure:
    caption = (
        f"The fastest operation of each type and instruction set, with {plural(threads, 'thread')}; ticks: ceilings."
    )
    lowest = min((line.rate.median for line in kernels), default=1.0) / _GIGA
    floor = 10.0 ** math.floor(math.log10(lowest) - 0.05)
    values = [_bar(line, floor) for line in kernels]
    types = list(dict.fromkeys(line.type for line in kernels))
    axis = {"format": "~g", "labelOverlap": True, "tickCount": 6}
    top = max((max(value["y"], value["ceiling"] or 0.0) for value in values), default=1.0) * 1.3
    scale = {"type": "log", "domain": [floor, top], "nice": False}
    x = {"field": "y", "type": "quantitative", "title": "Gop/s", "scale": scale, "axis": axis}
    place = ordinal("name", [value["name"] for value in values], "", axis={"grid": False, "ticks": False})
    color = {
        "field": "type",
        "type": "nominal",
        "scale": {"domain": types, "range": ordered_colors(len(types))},
        "legend": None,
    }
    bar = {"y": place, "x": x, "x2": {"field": "floor"}, "color": color, "tooltip": _BAR_TOOLTIP}
    tick = {"y": place, "x": {**x, "field": "ceiling"}}
    layers: list[Spec] = [
        {"mark": {"type": "bar"}, "encoding": bar},
        {
            "transform": [{"filter": "isValid(datum.ceiling)"}],
            "mark": {"type": "tick", "color": INK, "thickness": 2, "size": _STEP - 3},
            "encoding": tick,
        },
    ]
    spec: Spec = {"width": 420, "height": {"step": _STEP}, "data": {"values": values}, "layer": layers}
    return Figure("kernels", caption, spec, wide=True)


def _bar(line: Line, floor: float) -> Spec:
    ceiling = line.rate.ceiling
    return {
        "name": line.name,
        "type": line.type,
        "y": line.rate.median / _GIGA,
        "floor": floor,
        "ceiling": None if ceiling is None else ceiling.value / _GIGA,
        "text": format_row(line.rate),
        "ceiling_text": DASH if ceiling is None else f"{format_quantity(ceiling.value, 'op/s')} ({ceiling.kind})",
        "share": format_share(line.rate.share),
    }


def _scaling(kernels: Sequence[Line], counts: Sequence[int]) -> Figure:
    """The kernel that is best with the most threads, over itself with the fewest."""
    values: list[Spec] = []
    names: list[str] = []
    for best in best_of_types(kernels, counts[-1]):
        line = sorted((one for one in kernels if one.name == best.name), key=lambda one: one.threads)
        names.append(best.name)
        for one in line:
            gain = one.rate.median / line[0].rate.median
            values.append({"name": best.name, "x": one.threads, "y": gain, "text": f"{gain:.2f} x"})
    color = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": names, "range": ordered_colors(len(names))},
        "legend": {"title": None, "labelLimit": 260},
    }
    y = {"field": "y", "type": "quantitative", "title": f"times what {counts[0]} gives", "scale": {"zero": True}}
    encoding = {"x": rank_axis(list(counts), "x", "threads"), "y": y, "color": color, "tooltip": _LINE_TOOLTIP}
    mark = {"type": "line", "strokeWidth": 2, "point": {"filled": True, "size": 36}}
    spec: Spec = {"width": 410, "height": 250, "data": {"values": values}, "mark": mark, "encoding": encoding}
    return Figure("threads", "The best kernel of each type.", spec)


CHART: Final = Chart(
    name="compute_rates",
    title="Rates of the cores",
    doc="A step of the logarithmic axis is ten times as much; a bar that meets its tick has reached its ceiling.",
    order=1,
    build=build,
)
